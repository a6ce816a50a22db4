//! Hooks when an agent ends.

use super::{configure, is_running};
use crate::support::fleet::Fleet;
use crate::support::wait::until;

#[test]
fn a_clean_end_is_told_as_suspended_and_then_as_stop() {
    let fleet = Fleet::with_hooks(1);
    fleet.script("any", "echo \"$TANIST_EVENT $TANIST_REASON\" >> @/log");
    configure(&fleet, 1, "[hooks]\nany = \"@/any\"\n");
    let mut agent = fleet.start("n1");
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
    let fleet = Fleet::with_hooks(1);
    fleet.script(
        "hangs",
        "trap '' TERM\nsleep 1000 &\necho $$ $! > @/new; mv @/new @/hanging; wait",
    );
    configure(&fleet, 1, "[hooks]\nstop = \"@/hangs\"\ntimeout = \"80s\"\n");
    let mut agent = fleet.start("n1");
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
