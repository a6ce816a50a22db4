//! A leadership that goes on while its node forms one group after the other.

use crate::support::fleet::Fleet;

/// Writes its event and the members of the group.
const WRITES: &str = "echo \"$TANIST_EVENT $TANIST_ROLE: $TANIST_MEMBERS\" >> @/log";

/// The first one waits for a file.
const WAITS: &str = "\
echo \"$TANIST_EVENT $TANIST_REASON\" >> @/log
while [ ! -e @/go ]; do sleep 0.01; done";

#[test]
fn a_late_leader_hook_is_run_and_then_told_of_members_that_come_and_go() {
    let fleet = Fleet::with_hooks(3);
    fleet.script("writes", WRITES);
    fleet.script("waits", WAITS);
    fleet.configure(
        1,
        "preempt = \"never\"\n[hooks]\nleader = \"@/writes\"\nmembers = \"@/writes\"\n\
         suspended = \"@/waits\"\ntimeout = \"80s\"\n",
    );
    (2..=3).for_each(|node| drop(fleet.configure(node, "preempt = \"never\"\n")));
    let leader = fleet.start("n1");
    leader.when("status", |status| status["active"] == true);

    // The group is another one when the hook's turn comes; the leadership is the same.
    let mut second = fleet.start("n2");
    leader.members_are(&["n1", "n2"]);
    leader.when("status", |status| status["active"] == true);
    std::fs::write(fleet.file("go"), "").unwrap();
    fleet.read_when("log", |log| log.ends_with("members leader: n1 n2\n"));

    let _third = fleet.start("n3");
    fleet.read_when("log", |log| log.ends_with("members leader: n1 n2 n3\n"));
    second.kill();
    fleet.read_when("log", |log| log.ends_with("members leader: n1 n3\n"));
    let told: Vec<String> = fleet.lines("log");
    let events: Vec<&str> = told.iter().filter_map(|line| line.split(' ').next()).collect();
    // Nothing ended in between, so nothing was told to end or to begin again.
    assert_eq!(events[..2], ["suspended", "leader"], "{told:?}");
    assert!(events[2..].iter().all(|event| *event == "members"), "{told:?}");
}
