//! A `tanist run` that dies beside a living agent: the leader does not lead on without its job.

use serde_json::{Value, json};

use crate::support::agent::{Agent, Process};
use crate::support::fleet::Fleet;

const SLEEPS: &str = "echo $TANIST_NODE >> starts; exec sleep 1000";

/// Two nodes with agents of their own; n2 leads.
struct Pair {
    fleet: Fleet,
    low: Agent,
    high: Agent,
}

impl Pair {
    fn start(more: &str) -> Self {
        let fleet = Fleet::configured(2, &format!("algorithm = \"bully\"\n{more}"));
        let (low, high) = (fleet.start("n1"), fleet.start("n2"));
        low.members_are(&["n1", "n2"]);
        high.when("status", |status| status["active"] == true);
        Self { fleet, low, high }
    }

    /// `tanist run` beside n2.
    fn run(&self, script: &str) -> Process {
        let mut run = self.fleet.tanist(&["run", "--socket", "n2.sock", "--", "sh", "-c", script]);
        Process::start(&mut run)
    }

    fn starts(&self, count: usize) {
        self.fleet.read_when("starts", |text| text.lines().count() == count);
    }

    /// Waits until n1 leads, and says why n2 does not.
    fn moves(&self) -> Value {
        self.low.when("status", |status| status["active"] == true);
        self.high.ask("status")["objections"].clone()
    }
}

fn objects(reason: &str) -> Value {
    json!([{ "by": "job", "reason": reason, "retry_ms": null }])
}

#[test]
fn a_leader_whose_run_is_killed_steps_down_until_one_attaches_again() {
    let mut pair = Pair::start("");
    let mut run = pair.run(SLEEPS);
    pair.starts(1);
    run.signal("-KILL");
    assert_eq!(pair.moves(), objects("`tanist run` died"));
    let line = pair.high.logs("a job is lost");
    assert!(line.contains("on_job_lost"), "{line}");
    let told = pair.fleet.run(&["status", "--socket", "n2.sock"]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("n2 is WITHDRAWN: its job is lost (`tanist run` died)"), "{told}");
    run.ends();
    // With bully it takes over as soon as it takes part.
    let mut again = pair.run(SLEEPS);
    pair.starts(2);
    assert_eq!(pair.high.ask("status")["objections"], json!([]));
    again.signal("-TERM");
    again.ends();
}

#[test]
fn a_command_that_fails_is_a_lost_job_and_rejoin_overrules_that() {
    let pair = Pair::start("");
    let mut run = pair.run("exit 3");
    assert_eq!(run.code(), 3);
    assert_eq!(pair.moves(), objects("its command exited with 3"));
    let output = pair.fleet.run(&["rejoin", "--socket", "n2.sock"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    pair.high.when("status", |status| status["active"] == true);
}

#[test]
fn an_orderly_end_is_no_loss() {
    let pair = Pair::start("");
    let led = pair.high.ask("status");
    let mut done = pair.run("exit 0");
    assert_eq!(done.code(), 0);
    let mut told = pair.run(SLEEPS);
    pair.starts(1);
    told.signal("-TERM");
    assert_eq!(told.code(), 143);
    // Attached to a node that does not lead, it waits.
    let mut waits = pair.fleet.tanist(&["run", "--socket", "n1.sock", "--wait", "50ms"]);
    let output = waits.args(["--", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(124), "{output:?}");
    // The agent has noted each of them before it answers the next question of the same kind.
    let mut last = pair.run("exit 0");
    assert_eq!(last.code(), 0);
    for agent in [&pair.low, &pair.high] {
        assert_eq!(agent.ask("status")["objections"], json!([]));
    }
    assert_eq!(pair.high.ask("status")["group_number"], led["group_number"]);
}

#[test]
fn while_another_job_is_attached_the_loss_of_one_changes_nothing() {
    let mut pair = Pair::start("");
    let (mut first, mut second) = (pair.run(SLEEPS), pair.run(SLEEPS));
    pair.starts(2);
    first.signal("-KILL");
    let line = pair.high.logs("a job is lost");
    assert!(line.contains("others=1"), "{line}");
    assert_eq!(pair.high.ask("status")["active"], true);
    second.signal("-KILL");
    assert_eq!(pair.moves(), objects("`tanist run` died"));
    first.ends();
    second.ends();
}

#[test]
fn with_wait_the_leader_leads_on() {
    let mut pair = Pair::start("on_job_lost = \"wait\"\n");
    let mut run = pair.run(SLEEPS);
    pair.starts(1);
    run.signal("-KILL");
    pair.high.logs("a job is lost");
    let status = pair.high.ask("status");
    assert_eq!((&status["active"], &status["objections"]), (&json!(true), &json!([])));
    run.ends();
}
