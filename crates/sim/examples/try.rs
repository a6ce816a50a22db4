fn main() {
    let path = std::env::args().nth(1).unwrap();
    let s = tanist_sim::Scenario::parse(&std::fs::read_to_string(&path).unwrap()).unwrap_or_else(|e| panic!("{path}: {e}"));
    let seed = std::env::args().nth(2).and_then(|s| s.parse().ok()).unwrap_or(s.seed);
    let r = tanist_sim::run(&s, seed);
    let mut t = String::new();
    tanist_sim::story::story(&r.recording.header, &r.recording.entries, &mut t).unwrap();
    println!("{t}");
    for j in r.broken() { println!("BROKEN {:?}", j.broken); }
    println!("{:?}", r.counts.by_kind());
    println!("settled {:?} surprises {:?}", r.settled, r.surprises);
    std::fs::write("/tmp/try.svg", tanist_sim::diagram::space_time(&r.recording.header, &r.recording.entries)).unwrap();
}
