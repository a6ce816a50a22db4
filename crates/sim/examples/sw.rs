fn main() {
    let n: u32 = std::env::args().nth(1).unwrap().parse().unwrap();
    for a in tanist_core::election::Algorithm::ALL {
        let rows = tanist_sim::sweep::sweep(*a, None, 2..=n, &mut |_| {});
        for r in rows.iter().filter(|r| !r.is_match) { println!("{} {} n={} {} vs {} | {} vs {}", a.name(), r.case, r.n, r.messages, r.theory_messages, r.time_us, r.theory_time_us); }
        println!("{} rows {} ok {}", a.name(), rows.len(), rows.iter().filter(|r| r.is_match).count());
    }
}
