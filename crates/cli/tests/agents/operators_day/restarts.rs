//! Restarts of nodes that run a job while they lead. A leader that is restarted is replaced once; a
//! standby that goes or comes changes nothing, and its leader's job goes on as the same process.

use crate::support::jobs::Jobs;
use crate::support::wait::until;

/// The defaults, except that no process of a busy machine is suspected because it is slow.
const PATIENT: &str = "preempt = \"never\"\n[timing]\nsuspect_after = \"5s\"\n";

/// The job that runs: how many were started before it and with it, its node and its process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Current {
    count: usize,
    node: usize,
    line: String,
}

struct Group(Jobs);

impl Group {
    fn start(algorithm: &str, nodes: usize) -> Self {
        let group = Self(Jobs::start(nodes, &format!("algorithm = {algorithm:?}\n{PATIENT}")));
        group.is_whole();
        group
    }

    fn size(&self) -> usize {
        self.0.runs.len()
    }

    /// Waits until all nodes are in one group, whose leader acts, and returns the job that runs.
    fn is_whole(&self) -> Current {
        let leader = until("all nodes in one group, with a leader that acts", || {
            let all: Vec<_> =
                (1..=self.size()).map(|node| self.0.status(node)).collect::<Option<_>>()?;
            let first = &all[0];
            let is_agreed = all.iter().all(|status| {
                status["members"].as_array().is_some_and(|members| members.len() == self.size())
                    && status["leader"]["node"].is_string()
                    && status["group_number"] == first["group_number"]
            });
            let leader = first["leader"]["node"].as_str()?.to_owned();
            let does_act = all.iter().any(|s| s["node"] == leader.as_str() && s["active"] == true);
            (is_agreed && does_act).then_some(leader)
        });
        let leader: usize = leader.trim_start_matches('n').parse().unwrap();
        let (count, node) = self.0.newest_when(|_, node| node == leader);
        let line = self.0.fleet.lines("starts").pop().unwrap();
        Current { count, node, line }
    }

    /// Ends a node with a signal and starts it again, and waits until it has joined.
    fn restart(&mut self, node: usize, signal: &str) -> Current {
        self.0.runs[node - 1].signal(signal);
        self.0.runs[node - 1].ends();
        self.0.runs[node - 1] = self.0.spawn(node);
        self.is_whole()
    }

    fn any_standby(&self, leader: usize, turn: usize) -> usize {
        let standbys: Vec<usize> = (1..=self.size()).filter(|node| *node != leader).collect();
        standbys[turn % standbys.len()]
    }
}

/// Restarts all nodes in order, twice.
fn rolls(algorithm: &str, nodes: usize) {
    let mut group = Group::start(algorithm, nodes);
    let mut before = group.is_whole();
    for node in (1..=nodes).chain(1..=nodes) {
        let after = group.restart(node, "-TERM");
        let what = format!("{algorithm}, {nodes} nodes, n{node} restarted: {before:?} {after:?}");
        if node == before.node {
            assert_ne!(after.node, node, "it did not hand over: {what}");
            assert_eq!(after.count, before.count + 1, "more than one change of leader: {what}");
        } else {
            assert_eq!(after, before, "a standby disturbed the leader: {what}");
        }
        before = after;
        group.0.check();
    }
}

macro_rules! rolling_restarts {
    ($($name:ident: $algorithm:literal),* $(,)?) => {$(
        #[test]
        fn $name() {
            std::thread::scope(|scope| {
                scope.spawn(|| rolls($algorithm, 3));
                rolls($algorithm, 5);
            });
        }
    )*};
}

rolling_restarts! {
    a_rolling_restart_moves_a_leader_by_bully_only_when_it_is_restarted: "bully",
    a_rolling_restart_moves_a_leader_by_invitation_only_when_it_is_restarted: "invitation",
    a_rolling_restart_moves_a_leader_by_ring_chang_roberts_only_when_it_is_restarted:
        "ring-chang-roberts",
    a_rolling_restart_moves_a_leader_by_ring_modified_only_when_it_is_restarted: "ring-modified",
    a_rolling_restart_moves_a_leader_by_ring_list_only_when_it_is_restarted: "ring-list",
    a_rolling_restart_moves_a_leader_by_ring_active_list_only_when_it_is_restarted:
        "ring-active-list",
}

/// Orderly ends and crashes, in turn.
#[test]
fn twenty_restarts_of_standbys_leave_the_leaders_job_as_one_process() {
    let mut group = Group::start("invitation", 3);
    let begun = group.is_whole();
    for turn in 0..20 {
        let standby = group.any_standby(begun.node, turn);
        let signal = if turn % 3 == 0 { "-KILL" } else { "-TERM" };
        let now = group.restart(standby, signal);
        assert_eq!(now, begun, "n{standby} was restarted with {signal}, turn {turn}");
    }
    group.0.check();
}

/// It is suspected, removed from the group, and joins again when it goes on.
#[test]
fn a_standby_that_hangs_leaves_the_leaders_job_as_one_process() {
    for algorithm in ["invitation", "bully", "ring-list"] {
        let group = Group::start(algorithm, 3);
        let begun = group.is_whole();
        let standby = group.any_standby(begun.node, 0);
        let hung = &group.0.runs[standby - 1];
        hung.signal("-STOP");
        until("the others to go on without it", || {
            let members = &group.0.status(begun.node)?["members"];
            members.as_array().is_some_and(|members| members.len() == 2).then_some(())
        });
        hung.signal("-CONT");
        assert_eq!(group.is_whole(), begun, "{algorithm}");
    }
}
