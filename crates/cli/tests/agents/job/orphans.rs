//! No process outlives a job.

use crate::support::agent::{Process, signal};
use crate::support::dev::Dev;
use crate::support::fleet::Fleet;
use crate::support::wait::until;

/// A shell around the real work, with processes in another session, processes without a parent, and
/// processes that ignore SIGTERM.
const FAMILY: &str = "
    sh -c 'trap \"\" TERM HUP INT; while :; do sleep 1; done' &
    setsid sh -c 'trap \"\" TERM; sleep 1000' &
    (setsid sleep 1000 &) &
    sleep 1000 &
    touch ready; wait";

/// How many processes it has: the shell and its four children; some also have a sleep.
const FAMILY_MIN: usize = 5;

fn wait_for_family(fleet: &Fleet, others: usize) {
    until("the command", || fleet.file("ready").exists().then_some(()));
    until("its family", || (fleet.processes().len() >= FAMILY_MIN + others).then_some(()));
}

// consul#797, #873, #2022: the shell is killed, the job is not.
#[test]
fn when_tanist_run_is_killed_everything_that_it_started_is_gone() {
    let fleet = Fleet::configured(1, "");
    let run = Process::start(&mut fleet.job(1, &["--grace", "1h"], FAMILY));
    wait_for_family(&fleet, 2);
    run.signal("-KILL");
    fleet.no_process_runs();
}

#[test]
fn when_the_keeper_is_killed_everything_is_gone_and_it_exits_with_125() {
    let fleet = Fleet::configured(1, "");
    let mut run = Process::start(&mut fleet.job(1, &["--grace", "1h"], FAMILY));
    wait_for_family(&fleet, 2);
    let keeper = fleet.processes().into_iter().find(|process| is_keeper(*process)).unwrap();
    signal(keeper, "-KILL");
    assert_eq!(run.code(), 125);
    fleet.no_process_runs();
}

fn is_keeper(process: u32) -> bool {
    let command = std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
    command.starts_with("tanist\0keep\0")
}

#[test]
fn what_a_command_leaves_behind_ends_with_it() {
    let fleet = Fleet::configured(1, "");
    let script = "setsid sleep 1000 & sh -c 'trap \"\" TERM; sleep 1000' & exit 6";
    let mut run = Process::start(&mut fleet.job(1, &["--grace", "200ms"], script));
    assert_eq!(run.code(), 6);
    fleet.no_process_runs_now();
}

#[test]
fn asked_to_end_it_leaves_nobody_when_it_is_gone() {
    let fleet = Fleet::configured(1, "");
    let mut run = Process::start(&mut fleet.job(1, &["--grace", "200ms"], FAMILY));
    wait_for_family(&fleet, 2);
    run.signal("-TERM");
    run.ends();
    fleet.no_process_runs_now();
}

#[test]
fn when_the_agent_is_killed_everything_is_gone_and_it_exits_with_125() {
    let fleet = Fleet::new(0);
    let mut dev = Dev::start(&["--nodes", "2", "--algorithm", "bully"]);
    dev.agree("all 2 nodes");
    let socket = dev.directory().join("n2.sock");
    let run = ["run", "--grace", "1h", "--socket", socket.to_str().unwrap(), "--", "sh", "-c"];
    let mut run = Process::start(fleet.tanist(&run).arg(FAMILY));
    wait_for_family(&fleet, 2);
    dev.act(&["kill", "n2"]);
    assert_eq!(run.code(), 125);
    fleet.no_process_runs();
}

#[test]
fn when_tanist_run_hangs_and_the_agent_is_killed_everything_but_it_is_gone() {
    let fleet = Fleet::new(0);
    let mut dev = Dev::start(&["--nodes", "2", "--algorithm", "bully"]);
    dev.agree("all 2 nodes");
    let socket = dev.directory().join("n2.sock");
    let run = ["run", "--grace", "1h", "--socket", socket.to_str().unwrap(), "--", "sh", "-c"];
    let mut run = Process::start(fleet.tanist(&run).arg(FAMILY));
    wait_for_family(&fleet, 2);
    run.signal("-STOP");
    dev.act(&["kill", "n2"]);
    until("the job to be gone", || (fleet.processes() == [run.id()]).then_some(()));
    run.signal("-CONT");
    assert_eq!(run.code(), 125);
}
