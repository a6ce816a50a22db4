//! An agent as a service: notifications to the service manager, signals, and the exposure of the
//! unit.

use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::hooks::configure;
use crate::support::fleet::Fleet;
use crate::support::wait::LIMIT;

/// The next notification without these words.
fn told(manager: &UnixDatagram, but: &[&str]) -> String {
    let mut text = [0; 4096];
    loop {
        let length = manager.recv(&mut text).expect("the agent tells something in time");
        let line = String::from_utf8(text[..length].to_vec()).unwrap();
        if !but.iter().any(|but| line.starts_with(but)) {
            return line;
        }
    }
}

#[test]
fn a_service_manager_is_told_that_the_node_is_up_what_it_is_that_it_lives_reloads_and_stops() {
    let fleet = Fleet::with_hooks(1);
    configure(&fleet, 1, "");
    let manager = UnixDatagram::bind(fleet.file("manager")).unwrap();
    manager.set_read_timeout(Some(LIMIT)).unwrap();
    let mut command = fleet.tanist(&["agent", "-c", "n1.toml"]);
    command.env("NOTIFY_SOCKET", fleet.file("manager")).env("WATCHDOG_USEC", "100000");
    let mut agent = fleet.spawn("n1", &mut command);
    let (status, alive) = ("STATUS=", "WATCHDOG=1");
    assert_eq!(told(&manager, &[status]), "READY=1");
    let sentence = loop {
        let line = told(&manager, &[alive]);
        if line.contains("leader of") {
            break line;
        }
    };
    assert!(
        sentence.starts_with("STATUS=leader of billing, group number 1.n1, 1 member"),
        "{sentence}"
    );
    assert_eq!(told(&manager, &[status]), alive);
    assert_eq!(told(&manager, &[status]), alive);

    agent.signal("-HUP");
    let reloading = told(&manager, &[status, alive]);
    let micros = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").expect(&reloading);
    assert!(micros.parse::<u64>().unwrap() > 0);
    assert_eq!(told(&manager, &[status, alive]), "READY=1");

    agent.signal("-TERM");
    assert_eq!(told(&manager, &[status, alive]), "STOPPING=1");
    assert_eq!(agent.ends(), Some(0));
}

#[test]
fn a_watchdog_that_is_meant_for_another_process_is_not_fed() {
    let fleet = Fleet::with_hooks(1);
    configure(&fleet, 1, "");
    let manager = UnixDatagram::bind(fleet.file("manager")).unwrap();
    manager.set_read_timeout(Some(LIMIT)).unwrap();
    let mut command = fleet.tanist(&["agent", "-c", "n1.toml"]);
    command.env("NOTIFY_SOCKET", fleet.file("manager"));
    command.env("WATCHDOG_USEC", "2000").env("WATCHDOG_PID", "1");
    let mut agent = fleet.spawn("n1", &mut command);
    agent.tells("leads group");
    agent.signal("-TERM");
    assert_eq!(agent.ends(), Some(0));
    let mut heard = Vec::new();
    while heard.last().map(String::as_str) != Some("STOPPING=1") {
        heard.push(told(&manager, &[]));
    }
    assert!(!heard.iter().any(|line| line.contains("WATCHDOG")), "{heard:?}");
}

#[test]
fn the_state_goes_to_the_log_on_request_as_json_if_the_log_is_json() {
    let fleet = Fleet::with_hooks(1);
    fleet.script("leader", "echo it leads");
    configure(&fleet, 1, "[hooks]\nleader = \"@/leader\"\n[log]\nformat = \"json\"\n");
    let mut agent = fleet.start("n1");
    agent.logs("it leads");
    agent.logs("succeeded");
    agent.signal("-USR1");
    let line: Value = serde_json::from_str(&agent.logs("SIGUSR1")).unwrap();
    assert_eq!(line["level"], "INFO");
    let state = line["state"].as_str().unwrap();
    let state: Value = serde_json::from_str(state).unwrap();
    assert_eq!(state["status"]["role"], "leader");
    assert_eq!(state["hooks"]["leader"]["runs"], 1);
    assert_eq!(state["health"]["is_unhealthy"], false);
}

/// Needs systemd's own tool; skipped where it is missing.
#[test]
fn the_units_are_hardly_exposed() {
    let units = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/systemd");
    for unit in ["tanist.service", "tanist@.service"] {
        let mut ask = Command::new("systemd-analyze");
        // In tenths: 20 is 2.0.
        ask.args(["security", "--no-pager", "--offline=true", "--threshold=20"]);
        match ask.arg(units.join(unit)).output() {
            Ok(judged) => assert!(judged.status.success(), "{unit}: {judged:?}"),
            Err(error) => {
                assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}");
                eprintln!("no systemd-analyze here: {unit} was not judged");
            }
        }
    }
}

/// The same tool finds what systemd would refuse. An older version ignores what it does not know.
#[test]
fn the_units_are_understood_by_systemd() {
    let units = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/systemd");
    let scratch = tempfile::tempdir().unwrap();
    for unit in ["tanist.service", "tanist@.service", "tanist-run@.service"] {
        let text = std::fs::read_to_string(units.join(unit)).unwrap();
        // The program is not installed where the test runs.
        let text = text.replace("/usr/bin/tanist", env!("CARGO_BIN_EXE_tanist"));
        let copy = scratch.path().join(unit);
        std::fs::write(&copy, text).unwrap();
        let verified =
            Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&copy).output();
        let Ok(verified) = verified else {
            eprintln!("no systemd-analyze here: {unit} was not verified");
            continue;
        };
        let told = String::from_utf8_lossy(&verified.stderr);
        assert!(verified.status.success(), "{unit}: {told}");
        let newer = ["notify-reload", "RestartSteps", "RestartMaxDelaySec"];
        let of_unit = told.lines().filter(|line| line.contains(unit.trim_end_matches("service")));
        for line in of_unit {
            assert!(newer.iter().any(|name| line.contains(name)), "{unit}: {line}");
        }
    }
}

/// A stop begins with SIGTERM, and `tanist run` exits as its command: with 143.
#[test]
fn a_job_that_is_stopped_is_no_failed_unit() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for place in ["deploy/systemd/tanist-run@.service", "docs/run.md"] {
        let text = std::fs::read_to_string(root.join(place)).unwrap();
        assert!(text.lines().any(|line| line == "SuccessExitStatus=143"), "{place}");
    }
}
