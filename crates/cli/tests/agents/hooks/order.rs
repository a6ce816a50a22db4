//! Fifty changes of leader with a hook that hangs, and what the hooks were told.

use std::time::{Duration, Instant};

use super::{configure, is_running};
use crate::support::agent::Agent;
use crate::support::fleet::Fleet;
use crate::support::wait::until;

const FLAPS: usize = 50;

/// Writes one line when it starts and one when it ends.
const WRITES: &str = "\
line=\"$(basename \"$0\") $TANIST_INDEX $TANIST_EVENT ${TANIST_GROUP_NUMBER:-none}\"
echo \"$line start\" >> @/log
echo \"$line end\" >> @/log";

/// Hangs until it is killed.
const HANGS: &str = "echo $$ > @/hanging.new; mv @/hanging.new @/hanging; exec sleep 1000";

/// A node that leads again and again, whenever the node that outranks it is killed.
struct Pair {
    fleet: Fleet,
    low: Agent,
}

impl Pair {
    fn start(hooks: &str) -> Self {
        let fleet = Fleet::with_hooks(2);
        for name in ["leader", "member", "suspended", "any"] {
            fleet.script(name, WRITES);
        }
        fleet.script("hangs", HANGS);
        configure(&fleet, 1, hooks);
        configure(&fleet, 2, "");
        let mut low = fleet.start("n1");
        low.tells("leads group");
        Self { fleet, low }
    }

    /// The higher node starts, leads, and is killed. Returns how long it takes until this one leads
    /// again.
    fn flap(&mut self) -> Duration {
        let mut high = self.fleet.start("n2");
        self.low.tells("of {n1 n2} under n2");
        high.tells("of {n1 n2} under n2");
        let began = Instant::now();
        high.kill();
        self.low.tells("of {n1} under n1");
        began.elapsed()
    }
}

#[test]
fn after_fifty_changes_of_leader_hooks_ran_in_order_never_two_at_once_and_know_the_last() {
    let mut with = Pair::start(
        "[hooks]\nleader = \"@/leader\"\nmember = \"@/member\"\nsuspended = \"@/suspended\"\n\
         any = \"@/any\"\nmembers = \"@/hangs\"\ntimeout = \"500ms\"\n",
    );
    let mut without = Pair::start("");
    let (mut slow, mut plain) = (Vec::new(), Vec::new());
    let mut answers = 0;
    for _ in 0..FLAPS {
        slow.push(with.flap());
        plain.push(without.flap());
        answers += usize::from(has_answered_while_a_hook_hangs(&with));
    }
    assert!(answers > 0, "no hook was seen to hang in {FLAPS} changes");

    let status = with.low.when("status", |status| status["active"] == true);
    let number = status["group_number"].as_str().unwrap();
    let last = format!("leader {} leader {number} end", status["index"]);
    until(&format!("hooks are told `{last}`"), || {
        let lines = with.fleet.lines("log");
        lines.contains(&last).then_some(())
    });
    let lines = with.fleet.lines("log");
    in_order_and_never_two_at_once(&lines);
    every_leader_is_followed_by_its_end(&lines);

    // If the election waited for the hook, it would take half a second longer: many times the rest.
    let (slow, plain) = (median(slow), median(plain));
    assert!(slow < plain * 20, "{slow:?} with a hook that hangs, {plain:?} without");
}

/// Whether the node's driver answered while a hook was hanging.
fn has_answered_while_a_hook_hangs(pair: &Pair) -> bool {
    let hanging = || pair.fleet.lines("hanging").first().cloned().filter(|id| is_running(id));
    let Some(before) = hanging() else { return false };
    assert!(pair.low.ask("metrics")["wakes"].as_u64().unwrap() > 0);
    hanging() == Some(before)
}

fn in_order_and_never_two_at_once(lines: &[String]) {
    let mut newest = 0;
    let mut starts = 0;
    for pair in lines.chunks(2) {
        let [start, end] = pair else {
            // The hook of the newest change may still run.
            break;
        };
        assert!(start.ends_with(" start"), "{start} is no start, in {lines:#?}");
        assert_eq!(start.strip_suffix(" start"), end.strip_suffix(" end"), "in {lines:#?}");
        let index: u64 = start.split(' ').nth(1).unwrap().parse().unwrap();
        assert!(index >= newest, "{start} after index {newest}, in {lines:#?}");
        newest = index;
        starts += 1;
    }
    assert!(starts > FLAPS / 2, "hooks ran {starts} times only");
}

fn every_leader_is_followed_by_its_end(lines: &[String]) {
    let told: Vec<&str> = lines.iter().filter_map(|line| line.strip_suffix(" start")).collect();
    let roles = told.iter().filter(|line| !line.starts_with("any"));
    let roles: Vec<&str> = roles.map(|line| line.split(' ').next().unwrap()).collect();
    for pair in roles.windows(2) {
        assert!(pair != ["leader", "leader"], "two terms without an end between: {roles:?}");
    }
    assert!(roles.contains(&"leader") && roles.contains(&"suspended"), "{roles:?}");
    // The first hook says that this node does not lead, since an earlier incarnation may have led.
    assert_eq!(roles.first(), Some(&"suspended"));
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
