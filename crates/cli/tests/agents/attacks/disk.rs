//! Disks that are slow, full or wrong, and group numbers that would exhaust a counter.
//!
//! A slow disk is a process whose calls of fsync are delayed by strace; a full one is a small file
//! system in a mount namespace, which only root can make. Without these the tests say so and pass.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tanist::settings::Settings;
use tanist::store::record;
use tanist::{Timing, transport};
use tanist_core::election::{self, bully};
use tanist_core::node::Message;
use tanist_core::{GroupConfig, GroupNumber, GroupSettings, Member, Membership, NodeId, Priority};
use tanist_core::{recall, wire};

use crate::support::agent::{Process, signal};
use crate::support::fleet::Fleet;
use crate::support::job::JOB;
use crate::support::namespaces::can_mount;
use crate::support::wait::{LIMIT, until};

/// Every fsync takes this long: much longer than peers wait for a heartbeat.
const SLOW: &str = "inject=fsync,fdatasync:delay_enter=6000000";

const TIMING: &str =
    "[timing]\nheartbeat = \"100ms\"\nsuspect_after = \"2s\"\ncheck_every = \"500ms\"\n";

/// Delays every later fsync of a process, until it is dropped.
struct SlowDisk(Child);

impl SlowDisk {
    /// None if strace is not installed or may not attach.
    fn of(process: u32, fleet: &Path) -> Option<Self> {
        let log = fleet.join(format!("strace-{process}.log"));
        let mut command = Command::new("strace");
        command.args(["-f", "-e", "trace=fsync,fdatasync", "-e", SLOW, "-p", &process.to_string()]);
        let log = std::fs::File::create(log).unwrap();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        let mut slow = Self(child.ok()?);
        let is_traced = || {
            let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
            let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
            tracer.is_some_and(|tracer| tracer.trim() != "0")
        };
        let traced = until("strace to attach or to give up", || {
            slow.0.try_wait().unwrap().map(|_| false).or_else(|| is_traced().then_some(true))
        });
        traced.then_some(slow)
    }
}

impl Drop for SlowDisk {
    fn drop(&mut self) {
        // On SIGTERM strace detaches from the process; SIGKILL would end the process, too.
        signal(self.0.id(), "-TERM");
        let _ = self.0.wait();
    }
}

fn can_trace() -> bool {
    let tried = Command::new("strace").args(["-o", "/dev/null", "-e", SLOW, "true"]).status();
    let is_able = tried.is_ok_and(|status| status.success());
    if !is_able {
        eprintln!("skipped: a slow disk needs strace, and to be allowed to trace");
    }
    is_able
}

/// Waits until a node leads a group of so many members.
fn leads_all(fleet: &Fleet, node: usize, members: usize) {
    let socket = format!("n{node}.sock");
    until("the node to lead all", || {
        let asked = fleet.tanist(&["status", "-o", "json", "--socket", &socket]).output().unwrap();
        let status: Value = serde_json::from_slice(&asked.stdout).ok()?;
        let count = status["members"].as_array().map_or(0, Vec::len);
        (count == members && status["role"] == "leader").then_some(())
    });
}

/// The inode of the counter's file: every save replaces the file.
fn record(directory: &Path) -> u64 {
    std::fs::metadata(directory.join("counter")).map_or(0, |found| found.ino())
}

/// Waits until the counter of a node has not been saved for a while, and returns its inode.
fn is_at_rest(directory: &Path) -> u64 {
    let mut last = (record(directory), std::time::Instant::now());
    until("the disk to be at rest", || {
        let now = record(directory);
        if now != last.0 {
            last = (now, std::time::Instant::now());
        }
        (now != 0 && last.1.elapsed() > Duration::from_secs(3)).then_some(now)
    })
}

#[test]
fn a_leader_that_reserves_numbers_on_a_slow_disk_keeps_leading_and_no_two_jobs_run() {
    if !can_trace() {
        return;
    }
    let fleet = Fleet::configured(3, &format!("algorithm = \"bully\"\n{TIMING}"));
    let mut runs: Vec<Process> =
        (1..=3).map(|node| Process::start(&mut fleet.job(node, &["--grace", "1s"], JOB))).collect();
    leads_all(&fleet, 3, 3);
    fleet
        .read_when("starts", |starts| starts.lines().last().is_some_and(|it| it.starts_with("n3")));
    let before = is_at_rest(&fleet.file("data-n3"));
    let started = fleet.read("starts");
    let Some(_slow) = SlowDisk::of(runs[2].id(), fleet.path()) else {
        eprintln!("skipped: strace cannot attach");
        return;
    };
    // Without n1 the leader forms a new group, with a number that is reserved already. A moment
    // later it reserves the next ones, which takes seconds.
    runs[0].signal("-KILL");
    runs[0].ends();
    until("the reservation", || (record(&fleet.file("data-n3")) != before).then_some(()));
    leads_all(&fleet, 3, 2);
    let starts = fleet.read("starts");
    fleet.no_overlap();
    let since: Vec<&str> = starts.lines().skip(started.lines().count()).collect();
    let is_other = |line: &&str| !line.starts_with("n3");
    assert!(!since.iter().any(is_other), "the slow leader was taken for dead:\n{starts}");
}

#[test]
fn a_node_whose_disk_does_not_save_in_time_ends_and_says_how_long_it_took() {
    if !can_trace() {
        return;
    }
    let fleet = Fleet::new(3);
    let agents = fleet.group(&["n1", "n2"]);
    fleet.configure_as("n3", "n3", &[]);
    // The store is created on a fast disk.
    let mut first = fleet.start("n3");
    first.members_are(&["n1", "n2", "n3"]);
    first.signal("-TERM");
    assert_eq!(first.ends(), Some(0));
    let mut command = Command::new("strace");
    // With -D the child process is the agent, and strace ends with it.
    command.args(["-D", "-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", SLOW]);
    command.args([env!("CARGO_BIN_EXE_tanist"), "agent", "-c", "n3.toml"]);
    let mut third = fleet.spawn("n3", &mut command);
    assert_eq!(third.ends(), Some(7), "{}", third.log());
    let log = third.log();
    assert!(log.contains("data-n3") && log.contains("suspect_after"), "{log}");
    agents[0].members_are(&["n1", "n2"]);
}

/// A peer makes the leader save a number that is not reserved, and the save hangs.
#[test]
fn a_leader_whose_disk_hangs_in_a_save_has_ended_its_job_before_another_starts() {
    if !can_trace() {
        return;
    }
    let fleet = Fleet::configured(3, &format!("algorithm = \"bully\"\n{TIMING}"));
    let start = |node| Process::start(&mut fleet.job(node, &["--grace", "1s"], JOB));
    let (_first, mut third) = (start(1), start(3));
    leads_all(&fleet, 3, 2);
    fleet
        .read_when("starts", |starts| starts.lines().last().is_some_and(|it| it.starts_with("n3")));
    is_at_rest(&fleet.file("data-n3"));
    let Some(_slow) = SlowDisk::of(third.id(), fleet.path()) else {
        eprintln!("skipped: strace cannot attach");
        return;
    };
    let timing = Timing::default()
        .heartbeat(Duration::from_millis(100))
        .suspect_after(Duration::from_secs(2))
        .check_every(Duration::from_millis(500));
    says(&fleet, settings(timing), 2, 3, &[recalls(5000)]);
    assert_ne!(third.ends().code(), Some(0));
    fleet
        .read_when("starts", |starts| starts.lines().last().is_some_and(|it| it.starts_with("n1")));
    fleet.no_overlap();
}

#[test]
fn a_lone_survivor_on_a_full_disk_keeps_leading_with_the_number_that_it_has_saved() {
    if !can_mount() {
        return;
    }
    let fleet = Fleet::new(3);
    fleet.configure_as("n3", "n3", &[]);
    let data = fleet.file("data-n3");
    std::fs::create_dir_all(&data).unwrap();
    let program = env!("CARGO_BIN_EXE_tanist");
    let mount = "mount -t tmpfs -o size=64k,mode=700 tmpfs data-n3";
    let script = format!("{mount} && exec {program} agent -c n3.toml");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script]).current_dir(fleet.path());
    let mut third = fleet.spawn("n3", &mut command);
    third.members_are(&["n3"]);
    let mut agents = fleet.group_with(&["n1", "n2"], &["n1", "n2", "n3"]);
    // Other processes see this mount below /proc/PID/root.
    let inside = format!("/proc/{}/root{}", third.id(), data.display());
    is_at_rest(Path::new(&inside));
    let filler = format!("{inside}/filler");
    assert!(std::fs::write(&filler, vec![0; 1 << 20]).is_err(), "64 kB are full before 1 MB");
    drop(agents.remove(0));
    third.members_are(&["n2", "n3"]);
    drop(agents.remove(0));
    third.members_are(&["n3"]);
    let reason = "No space left";
    until("the warning", || {
        assert_eq!(third.ended(), None, "it ended: {}", third.log());
        third.log().contains(reason).then_some(())
    });
    let led = third.ask("status");
    assert_eq!(led["role"], "leader", "{led}");
    // Freed space is used without a restart.
    std::fs::remove_file(&filler).unwrap();
    let before = record(Path::new(&inside));
    until("the next reservation", || (record(Path::new(&inside)) != before).then_some(()));
    assert_eq!(
        third.ask("status")["group_number"],
        led["group_number"],
        "the number in use has not changed"
    );
}

#[test]
fn a_data_directory_that_others_may_write_is_refused_with_the_command_that_mends_it() {
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[]);
    let data = fleet.file("data-n1");
    std::fs::create_dir(&data).unwrap();
    for mode in [0o777, 0o770, 0o702] {
        std::fs::set_permissions(&data, PermissionsExt::from_mode(mode)).unwrap();
        let mut agent = fleet.start("n1");
        assert_eq!(agent.ends(), Some(6), "{mode:o}: {}", agent.log());
        assert!(agent.log().contains("chmod 700"), "{}", agent.log());
        let checked = fleet.run(&["config", "check", "-c", "n1.toml"]);
        let told = String::from_utf8_lossy(&checked.stderr).into_owned()
            + &String::from_utf8_lossy(&checked.stdout);
        assert!(!checked.status.success() && told.contains("chmod 700"), "{mode:o}: {told}");
    }
    std::fs::set_permissions(&data, PermissionsExt::from_mode(0o755)).unwrap();
    let agent = fleet.start("n1");
    agent.members_are(&["n1"]);
}

/// The settings of nodes n1 to n3; timings as in [`TIMING`] or the usual ones.
fn settings(timing: Timing) -> Settings {
    let members = (1..=3).map(|id| Member { id: NodeId(id), priority: Priority(id) });
    let timing = tanist_core::Timing::new(timing.into()).unwrap();
    let settings = GroupSettings::new(election::Algorithm::Bully, timing);
    Settings::of(&GroupConfig::new(settings).unwrap(), &Membership::new(members).unwrap())
}

/// A peer that has the group's key, played by the test: it sends any messages.
fn says(fleet: &Fleet, settings: Settings, node: u32, to: u32, messages: &[Message]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let address = |node: u32| fleet.peer(usize::try_from(node).unwrap()).to_string();
    let own = address(node);
    let config = transport::Config {
        me: NodeId(node),
        group: "billing".into(),
        secrets: transport::Secrets::of(tanist::GroupKey::read(&fleet.file("group.key")).unwrap())
            .unwrap(),
        settings,
        versions: transport::version::Versions::RELEASED,
        about: transport::introduction::About::release(),
        peers: (1..=3).map(|node| (NodeId(node), address(node))).collect(),
        limits: transport::Limits::default(),
    };
    runtime.block_on(async {
        let sockets = transport::Sockets::bind(&own).unwrap();
        let (sender, mut incoming) = tokio::sync::mpsc::channel(100);
        let mut links = transport::Transport::start(config, sockets, sender).unwrap();
        for (id, message) in messages.iter().enumerate() {
            links.send(NodeId(to), id as u64, wire::encode(message));
        }
        let written = async {
            while links.counters().frames_out < messages.len() as u64 {
                let pause = tokio::time::sleep(Duration::from_millis(5));
                tokio::select! { _ = incoming.recv() => {}, () = pause => {} }
            }
        };
        tokio::time::timeout(LIMIT, written).await.expect("the agent takes frames");
    });
}

/// A peer says that it remembers this counter of the receiver.
fn recalls(counter: u64) -> Message {
    let counter = Some(tanist_core::group::Counter(counter));
    Message::Recall(recall::Message::Recalled { question: 1, counter })
}

/// The counter on a node's disk.
fn saved_counter(fleet: &Fleet, name: &str) -> u64 {
    let bytes = std::fs::read(fleet.file(&format!("data-{name}/counter"))).unwrap();
    match record::decode(&bytes).unwrap() {
        record::Record::Counter(found) => found.counter,
        other @ record::Record::Identity(_) => panic!("not a counter: {other:?}"),
    }
}

#[test]
fn a_counter_near_its_end_is_refused_before_it_is_saved() {
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[]);
    let agent = fleet.start("n1");
    agent.members_are(&["n1"]);
    let names = |counter| {
        let group = GroupNumber { counter, node: NodeId(1) };
        Message::Election(election::Message::Bully(bully::Message::SetCoordinator { group }))
    };
    let hostile = [names(u64::MAX - 1), names(1 << 40), recalls(u64::MAX), recalls(1 << 63)];
    // As in the configurations of these agents.
    let timing = Timing::default().suspect_after(Duration::from_secs(5));
    says(&fleet, settings(timing), 2, 1, &hostile);
    agent.when("metrics", |metrics| metrics["refused_counters"] == 4);
    until("the peer's name in the log", || agent.log().contains("n2").then_some(()));
    agent.members_are(&["n1"]);
    assert!(saved_counter(&fleet, "n1") < 1 << 20, "{}", saved_counter(&fleet, "n1"));
    // A counter that a correct peer may send is still accepted.
    says(&fleet, settings(timing), 2, 1, &[recalls(5000)]);
    until("the counter", || (saved_counter(&fleet, "n1") >= 5000).then_some(()));
}
