//! What hooks are told when an agent ends.

use super::fleet::{Fleet, is_running, until};

#[test]
fn a_clean_end_is_told_as_suspended_and_then_as_stop() {
    let fleet = Fleet::new(1);
    fleet.script("any", "echo \"$TANIST_EVENT $TANIST_REASON\" >> @/log");
    fleet.file(1, "[hooks]\nany = \"@/any\"\n");
    let mut agent = fleet.start(1);
    until("the members were told", || {
        fleet.lines("log").last().filter(|line| line.starts_with("members")).cloned()
    });
    agent.signal("-TERM");
    assert_eq!(agent.ends(), Some(0));
    let lines = fleet.lines("log");
    assert_eq!(lines.first().map(String::as_str), Some("suspended start"), "{lines:?}");
    let last: Vec<&str> = lines.iter().rev().take(2).map(String::as_str).collect();
    assert_eq!(last, ["stop stop", "suspended stop"], "{lines:?}");
}

#[test]
fn a_second_request_to_end_waits_for_no_hook_and_leaves_none_behind() {
    let fleet = Fleet::new(1);
    fleet.script(
        "hangs",
        "trap '' TERM\nsleep 1000 &\necho $$ $! > @/new; mv @/new @/hanging; wait",
    );
    fleet.file(1, "[hooks]\nstop = \"@/hangs\"\ntimeout = \"80s\"\n");
    let mut agent = fleet.start(1);
    agent.tells("leads group");
    agent.signal("-TERM");
    let line = until("the hook hangs", || fleet.lines("hanging").first().cloned());
    let processes: Vec<&str> = line.split(' ').collect();
    assert!(processes.iter().all(|process| is_running(process)));
    agent.signal("-TERM");
    assert_eq!(agent.ends(), Some(130));
    until("the hook and its child are gone", || {
        processes.iter().all(|process| !is_running(process)).then_some(())
    });
}
