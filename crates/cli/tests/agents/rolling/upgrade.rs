//! Five nodes are upgraded and downgraded one by one, while clients query each of them and one runs
//! a job.
//!
//! What is promised about leaders depends on the algorithm. `invitation` with `preempt = "never"`
//! promises the least change: a leader that stops is replaced once, and a node that starts joins
//! the group as it is. With `bully` the highest node takes over again when it restarts, which makes
//! two changes.

use serde_json::Value;

use super::group::Group;
use super::load::Load;
use super::release::{BRINGS, DROPS, FIRST, Release};
use crate::support::heavy;
use crate::support::wait::until;

/// On a busy machine no silent node is suspected, since none hangs here, and no answer is late: the
/// promises about leaders hold while messages arrive and are answered in time.
const CONFIG: &str = "algorithm = \"invitation\"\npreempt = \"never\"\n[timing]\n\
    message_max = \"500ms\"\nprocessing_max = \"500ms\"\n\
    heartbeat = \"100ms\"\nsuspect_after = \"5s\"\ncheck_every = \"500ms\"\n";

#[test]
fn five_nodes_are_upgraded_and_downgraded_one_by_one() {
    let _turn = heavy::turn();
    let mut roll = Roll::start(FIRST);
    // As operators should: the leader last.
    let changes = roll.members_first(BRINGS);
    assert_eq!(changes, 1, "the leader restarted once");
    assert_eq!(roll.store_versions(), [1; 5], "what the release before reads is written");
    // As they should not: the leader first, again and again.
    let changes = roll.leaders_first(FIRST);
    assert!(changes >= 1, "leaders restarted");
    roll.end();
}

#[test]
fn five_nodes_leave_an_old_version_behind_and_return_to_it() {
    let _turn = heavy::turn();
    let mut roll = Roll::start(BRINGS);
    roll.members_first(DROPS);
    assert_eq!(roll.store_versions(), [2; 5]);
    roll.members_first(BRINGS);
    assert_eq!(roll.store_versions(), [2; 5], "a store does not go back");
    roll.end();
}

/// Five nodes under load.
struct Roll {
    group: Group,
    load: Load,
}

impl Roll {
    fn start(release: Release) -> Self {
        let mut group = Group::new(5, CONFIG);
        for at in 0..group.nodes.len() {
            group.start(at, release);
        }
        group.agree();
        let load = Load::start(&group);
        let roll = Self { group, load };
        roll.check();
        roll
    }

    /// Restarts every node once, the leader last. Returns how often the leader changed.
    fn members_first(&mut self, release: Release) -> usize {
        let mut changes = 0;
        while let Some(at) = self.next(release, |is_leader| !is_leader) {
            changes += self.restart(at, release);
        }
        changes
    }

    /// Restarts every node once, the leader first whenever it has not restarted yet.
    fn leaders_first(&mut self, release: Release) -> usize {
        let mut changes = 0;
        while let Some(at) = self.next(release, |is_leader| is_leader) {
            changes += self.restart(at, release);
        }
        changes
    }

    /// A node that does not run this release yet: a preferred one, or any other.
    fn next(&self, release: Release, is_preferred: impl Fn(bool) -> bool) -> Option<usize> {
        let leader = self.group.agree();
        let nodes = self.group.nodes.iter().enumerate();
        let left = || nodes.clone().filter(|(_, node)| node.release() != release);
        let preferred = left().find(|(_, node)| is_preferred(node.name == leader));
        preferred.or_else(|| left().next()).map(|(at, _)| at)
    }

    /// Restarts a node as another release. Returns how often the leader changed, as all other nodes
    /// saw it: once if it was the leader, else never.
    fn restart(&mut self, at: usize, release: Release) -> usize {
        let leader = self.group.agree();
        let was_leader = self.group.nodes[at].name == leader;
        let before: Vec<u64> = self.indices();
        let answers = self.load.answers();
        self.no_version_refused(at);
        self.group.stop(at);
        self.group.start(at, release);
        self.group.agree();
        let expected = usize::from(was_leader);
        for (other, index) in before.iter().enumerate().filter(|(other, _)| *other != at) {
            let seen = self.leaders(other, *index, &leader);
            let story = format!("{} as {}, leaders {seen:?}", at + 1, release.name);
            assert_eq!(seen.len() - 1, expected, "n{} saw n{story}", other + 1);
        }
        until("answers under load", || (self.load.answers() > answers + 10).then_some(()));
        self.check();
        expected
    }

    /// The index of each node's latest change.
    fn indices(&self) -> Vec<u64> {
        let index = |status: Value| status["index"].as_u64().unwrap();
        self.group.nodes.iter().map(|node| index(node.agent().ask("status"))).collect()
    }

    /// The leaders that a node has followed since a change, beginning with the one at that time.
    fn leaders(&self, at: usize, index: u64, first: &str) -> Vec<String> {
        let history = self.group.nodes[at].agent().ask("history");
        let mut leaders = vec![first.to_owned()];
        for line in history.as_array().unwrap() {
            let is_later = line["index"].as_u64().unwrap() > index;
            if is_later && line["role"] != "suspended" {
                leaders.push(line["coordinator"].as_str().unwrap().to_owned());
            }
        }
        leaders.dedup();
        leaders
    }

    /// What holds at every stage: one job at most, links of the expected versions, none refused.
    fn check(&self) {
        self.group.no_overlap();
        let leader = self.group.agree();
        for node in self.group.running() {
            self.versions_are_as_expected(&node.name, node.name == leader);
        }
        for at in 0..self.group.nodes.len() {
            self.no_version_refused(at);
        }
    }

    /// Each link has the highest version that both ends know. The leader has a link with every
    /// node.
    fn versions_are_as_expected(&self, name: &str, is_leader: bool) {
        let find = |name: &str| self.group.nodes.iter().find(|node| node.name == *name).unwrap();
        let node = find(name);
        until("the expected versions", || {
            let seen = node.agent().try_ask("members")?;
            let others = seen["members"].as_array().unwrap().iter();
            let mut others = others.filter(|other| other["is_self"] == false);
            let is_expected = |other: &Value| {
                let release = find(other["node"].as_str().unwrap()).release();
                match other["wire_version"].as_u64() {
                    Some(version) => Some(version) == node.release().common(release),
                    None => !is_leader,
                }
            };
            others.all(is_expected).then_some(())
        });
    }

    fn store_versions(&self) -> Vec<u16> {
        (0..self.group.nodes.len()).map(|at| self.group.store_version(at)).collect()
    }

    fn no_version_refused(&self, at: usize) {
        let refused = self.group.nodes[at].agent().count("refused_version");
        assert_eq!(refused, 0, "{}", self.group.log(at));
    }

    fn end(mut self) {
        drop(self.load);
        for at in 0..self.group.nodes.len() {
            self.group.stop(at);
        }
        self.group.no_overlap();
        self.group.fleet.no_process_runs();
    }
}
