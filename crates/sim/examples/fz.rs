use tanist_core::election::Algorithm;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let alg = Algorithm::from_name(&a[1]).unwrap();
    let first: u64 = a[2].parse().unwrap();
    let n: u64 = a[3].parse().unwrap();
    let mutant = a.get(4).map(|m| tanist_core::mutant::Mutant::from_name(m).unwrap());
    let t = std::time::Instant::now();
    let (mut ev, mut el, mut fails) = (0, 0, 0);
    for seed in first..first + n {
        let s = tanist_sim::fuzz::scenario(alg, seed, mutant);
        let o = tanist_sim::fuzz::judge(&s);
        ev += o.events; el += o.elections;
        if let Some(f) = o.failure {
            fails += 1;
            if fails <= 3 {
                println!("seed {seed}: {} at {} {:?}", f.assertion, f.at, f.breach);
                if std::env::var("SHRINK").is_ok() {
                    let small = tanist_sim::shrink::shrink(&s);
                    std::fs::write(format!("/tmp/fail-{seed}.toml"), small.to_text()).unwrap();
                }
            }
            if mutant.is_some() { break; }
        }
    }
    let e = t.elapsed().as_secs_f64();
    println!("{} seeds {} fails {} events {} elections {} {:.0} seeds/s {:.2} Mev/s", a[1], n, fails, ev, el, n as f64 / e, ev as f64 / e / 1e6);
}
