//! Algorithms whose leaders never become active: nothing waits for them without end.

use crate::support::dev::Dev;
use crate::support::fleet::Fleet;

#[test]
fn run_and_doctor_refuse_an_algorithm_whose_leader_never_acts() {
    let fleet = Fleet::new(0);
    let mut dev = Dev::start(&["--nodes", "2", "--algorithm", "bully-lecture"]);
    dev.agree("all 2 nodes");
    let socket = dev.directory().join("n2.sock");
    let socket = socket.to_str().unwrap();
    let output = fleet.run(&["run", "--socket", socket, "--", "touch", "started"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert!(said.contains("never becomes active") && said.contains("invitation"), "{said}");
    assert!(!fleet.file("started").exists());
    let output = fleet.run(&["doctor", "--socket", socket]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    // A table wraps what is long.
    let words: Vec<&str> = said.split_whitespace().collect();
    assert!(words.join(" ").contains("it never becomes active"), "{said}");
}

#[test]
fn an_agent_and_a_job_of_their_own_do_not_start_with_it() {
    let fleet = Fleet::configured(2, "algorithm = \"adhoc-diffusing\"\n");
    for (arguments, code) in [
        (&["config", "check", "-c", "n1.toml"][..], 6),
        (&["agent", "-c", "n1.toml"], 6),
        (&["run", "-c", "n1.toml", "--", "true"], 125),
    ] {
        let output = fleet.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains("algorithm") && said.contains("never becomes active"), "{said}");
        assert!(said.contains("bully, invitation"), "{said}");
    }
}
