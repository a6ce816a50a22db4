//! Exit codes that a service manager acts on, and units that must not disturb each other.
//!
//! Exit code 6 tells the manager to give up: the configuration or the store is wrong. Exit code 7
//! tells it to try again: a resource is missing at the moment.

use std::fs;
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::agent::{Agent, Process};
use crate::support::fleet::Fleet;
use crate::support::namespaces::can_mount;
use crate::support::wait::until;

/// The manager must give up.
const WRONG: Option<i32> = Some(6);
/// The manager must try again.
const TRY_AGAIN: Option<i32> = Some(7);

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The port where a node listens for its peers.
fn port(fleet: &Fleet, node: usize) -> u16 {
    fleet.peer(node).port()
}

#[test]
fn a_busy_port_is_tried_again() {
    let fleet = Fleet::new(3);
    let file = fleet.configure_as("n1", "n1", &[]);
    let _taken = TcpListener::bind(fleet.peer(1)).unwrap();
    let refused = fleet.run(&["agent", "-c", &file]);
    assert_eq!(refused.status.code(), TRY_AGAIN, "{}", stderr(&refused));
    assert!(stderr(&refused).contains("cannot listen"), "{}", stderr(&refused));
}

#[test]
fn a_busy_http_port_is_tried_again_and_the_node_was_in_no_group_meanwhile() {
    let fleet = Fleet::new(3);
    let agents = fleet.group(&["n1", "n2"]);
    let before = agents[1].ask("status")["group_number"].clone();
    let taken = TcpListener::bind(fleet.http(3)).unwrap();
    let http = format!("{{ listen = \"{}\" }}", taken.local_addr().unwrap());
    let file = fleet.configure_as("n3", "n3", &[("http", http)]);
    let refused = fleet.run(&["agent", "-c", &file]);
    assert_eq!(refused.status.code(), TRY_AGAIN, "{}", stderr(&refused));
    // n3 outranks both: had it started before it looked at the port, it would have led.
    assert_eq!(agents[1].ask("status")["group_number"], before);
}

#[test]
fn an_own_name_that_does_not_resolve_is_tried_again() {
    let fleet = Fleet::new(3);
    let file = fleet.configure_as(
        "n1",
        "n1",
        &[("peers", format!("[\"n1=n1.tanist.invalid:{}\"]", port(&fleet, 1)))],
    );
    let refused = fleet.run(&["agent", "-c", &file]);
    assert_eq!(refused.status.code(), TRY_AGAIN, "{}", stderr(&refused));
    assert!(stderr(&refused).contains("n1.tanist.invalid"), "{}", stderr(&refused));
}

#[test]
fn the_name_of_a_peer_that_does_not_resolve_keeps_no_node_from_starting() {
    let fleet = Fleet::new(3);
    let known = format!("\"n1={}\"", fleet.peer(1));
    let unknown = format!("\"n2=n2.tanist.invalid:{}\"", port(&fleet, 2));
    fleet.configure_as("n1", "n1", &[("peers", format!("[{known}, {unknown}]"))]);
    fleet.start("n1").members_are(&["n1"]);
}

#[test]
fn a_process_without_descriptors_is_started_again() {
    let fleet = Fleet::new(3);
    let file = fleet.configure_as("n1", "n1", &[]);
    let program = env!("CARGO_BIN_EXE_tanist");
    let mut limits_with_code = Vec::new();
    // At any point of the start the descriptors may run out.
    for limit in 4..24 {
        let script = format!("ulimit -n {limit}; exec {program} agent -c {file}");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(fleet.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut agent = Process::start(&mut command);
        let ended = until("the agent's end or socket", || match agent.ended() {
            Some(status) => Some(Some(status)),
            None => fleet.file("n1.sock.http").exists().then_some(None),
        });
        let Some(status) = ended else { break };
        limits_with_code.push((limit, status.code()));
    }
    // With hardly any, the runtime panics (101), and with fewer the loader fails (127).
    let known = [TRY_AGAIN, Some(101), Some(127)];
    let wrong = limits_with_code.iter().filter(|(_, code)| !known.contains(code));
    assert_eq!(wrong.count(), 0, "{limits_with_code:?}");
    let right = limits_with_code.iter().filter(|(_, code)| *code == TRY_AGAIN);
    assert!(right.count() > 5, "{limits_with_code:?}");
}

#[test]
fn a_store_that_another_process_holds_is_tried_again() {
    let fleet = Fleet::new(3);
    let _agents = fleet.group(&["n1"]);
    let listen = ("listen", format!("\"{}\"", fleet.spare(1)));
    let file = fleet.configure_as("twin", "n1", &[listen, ("data_dir", "\"data-n1\"".to_owned())]);
    let refused = fleet.run(&["agent", "-c", &file]);
    assert_eq!(refused.status.code(), TRY_AGAIN, "{}", stderr(&refused));
}

#[test]
fn a_wrong_file_key_or_store_is_given_up() {
    let fleet = Fleet::new(3);
    let code = |lines: &[(&str, String)]| {
        let refused = fleet.run(&["agent", "-c", &fleet.configure_as("n1", "n1", lines)]);
        (refused.status.code(), stderr(&refused))
    };
    for lines in [
        [("algorithm", "\"coin\"".to_owned())],
        [("key_file", "\"none.key\"".to_owned())],
        [("node", "\"n9\"".to_owned())],
    ] {
        let (code, stderr) = code(&lines);
        assert_eq!(code, WRONG, "{lines:?}: {stderr}");
    }
    fs::create_dir(fleet.file("data-n1")).unwrap();
    fs::write(fleet.file("data-n1/thesis.tex"), "not a store").unwrap();
    let (code, stderr) = code(&[]);
    assert_eq!(code, WRONG, "{stderr}");
}

/// An agent whose data directory is a small file system of its own.
fn start_on_small_disk(fleet: &Fleet, name: &str, before: &str) -> Agent {
    fs::create_dir_all(fleet.file(&format!("data-{name}"))).unwrap();
    let program = env!("CARGO_BIN_EXE_tanist");
    let script = format!(
        "mount -t tmpfs -o size=64k tmpfs data-{name} && {before} && \
         exec {program} agent -c {name}.toml"
    );
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script]).current_dir(fleet.path());
    fleet.spawn(name, &mut command)
}

#[test]
fn a_disk_that_is_full_at_the_start_is_tried_again() {
    if !can_mount() {
        return;
    }
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[("data_dir", "\"data-n1/store\"".to_owned())]);
    let fill = "mkdir data-n1/store && { cat /dev/zero > data-n1/filler 2>/dev/null || true; }";
    let mut agent = start_on_small_disk(&fleet, "n1", fill);
    assert_eq!(agent.ends(), TRY_AGAIN, "{}", agent.log());
    assert!(agent.log().contains("No space left"), "{}", agent.log());
}

#[test]
fn an_agent_that_crashes_leaves_no_image_of_its_memory() {
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[]);
    let program = env!("CARGO_BIN_EXE_tanist");
    // An image of the memory would contain the key.
    let script = format!("ulimit -c unlimited; exec {program} agent -c n1.toml");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(fleet.path());
    let mut agent = fleet.spawn("n1", &mut command);
    agent.members_are(&["n1"]);
    agent.signal("-ABRT");
    agent.ends();
    let status = agent.ended().unwrap();
    assert_eq!(status.signal(), Some(6), "{status}");
    assert!(!status.core_dumped(), "the agent's memory was dumped");
}

/// A health command that leaves an orphan process each time, and the file that counts them.
struct Orphans {
    // Not below /tmp: a program that other users can replace is not run.
    directory: tempfile::TempDir,
}

impl Orphans {
    fn new() -> Self {
        let orphans =
            Self { directory: tempfile::tempdir_in(std::env::var_os("HOME").unwrap()).unwrap() };
        let (health, ended) = (orphans.health(), orphans.ended());
        let ended = ended.display();
        let orphan = format!("(sh -c 'sleep 0.05; echo >> {ended}' > /dev/null 2>&1 &)");
        fs::write(&health, format!("#!/bin/sh\n{orphan}\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(&health, mode).unwrap();
        orphans
    }

    fn health(&self) -> std::path::PathBuf {
        self.directory.path().join("health")
    }

    fn ended(&self) -> std::path::PathBuf {
        self.directory.path().join("ended")
    }

    /// Runs often; a single lost exit status makes the node unhealthy.
    fn table(&self) -> String {
        let health = self.health();
        format!("{{ command = [{health:?}], every = \"50ms\", timeout = \"60s\", fail_after = 1 }}")
    }

    /// How many orphans have ended.
    fn count(&self) -> usize {
        fs::read_to_string(self.ended()).unwrap_or_default().lines().count()
    }

    /// Waits until many orphans have ended, and few of them are zombies.
    fn are_reaped_by(&self, process: u32) {
        until("twenty orphans", || (self.count() >= 20).then_some(()));
        // The newest orphan may still run, and the health command itself may have ended just now.
        until("few zombies", || (zombies_of(process) <= 2).then_some(()));
        let before = self.count();
        until("twenty more", || (self.count() >= before + 20).then_some(()));
        until("few zombies", || (zombies_of(process) <= 2).then_some(()));
    }
}

/// How many zombies a process has as children.
fn zombies_of(parent: u32) -> usize {
    children_of(parent).into_iter().filter(|(_, state)| state == "Z").count()
}

/// The children of a process, with their states.
fn children_of(parent: u32) -> Vec<(u32, String)> {
    let stat = |entry: fs::DirEntry| {
        let process: u32 = entry.file_name().to_str()?.parse().ok()?;
        let text = fs::read_to_string(entry.path().join("stat")).ok()?;
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?.to_owned();
        (fields.next()?.parse() == Ok(parent)).then_some((process, state))
    };
    fs::read_dir("/proc").unwrap().flatten().filter_map(stat).collect()
}

#[test]
fn orphans_of_hooks_are_reaped_by_a_node_that_runs_a_job() {
    let orphans = Orphans::new();
    let fleet = Fleet::configured(1, &format!("health = {}\n", orphans.table()));
    let log = fs::File::create(fleet.file("log")).unwrap();
    let mut command = fleet.job(1, &[], "touch started; sleep 1000");
    let run = Process::start(command.stderr(log));
    until("the job", || fleet.file("started").exists().then_some(()));
    orphans.are_reaped_by(run.id());
    assert!(
        !fleet.read("log").contains("the health check fails"),
        "a status was lost: {}",
        fleet.read("log")
    );
    run.signal("-TERM");
}

#[test]
fn orphans_of_hooks_are_reaped_by_an_agent_that_is_the_first_process_of_a_container() {
    let mut tried = Command::new("unshare");
    tried.args(["--pid", "--fork", "true"]).stderr(Stdio::null());
    if !tried.status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: a process namespace needs root and unshare");
        return;
    }
    let orphans = Orphans::new();
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[("health", orphans.table())]);
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--kill-child", "--mount-proc"]);
    command.arg(env!("CARGO_BIN_EXE_tanist")).args(["agent", "-c", "n1.toml"]);
    let agent = fleet.spawn("n1", &mut command);
    agent.members_are(&["n1"]);
    let first = children_of(agent.id())[0].0;
    orphans.are_reaped_by(first);
    assert!(!agent.log().contains("the health check fails"), "a status was lost: {}", agent.log());
}

/// One of the units that come with tanist.
struct Unit {
    name: &'static str,
    text: String,
}

impl Unit {
    fn read(name: &'static str) -> Self {
        let units = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/systemd");
        Self { name, text: fs::read_to_string(units.join(name)).unwrap() }
    }

    /// The value of a setting; the last one counts.
    fn value(&self, key: &str) -> Option<&str> {
        let setting = |line: &'_ str| line.split_once('=').is_some_and(|(name, _)| name == key);
        let line = self.text.lines().rfind(|line| setting(line))?;
        line.split_once('=').map(|(_, value)| value)
    }

    /// A directory of an instance of the unit, relative to /run, /var/lib and so on.
    fn directory(&self, key: &str, instance: &str) -> std::path::PathBuf {
        self.value(key).unwrap().replace("%i", instance).into()
    }

    /// The directory that systemd removes, with its contents, when the unit has stopped.
    fn removed_at_stop(&self, instance: &str) -> Option<std::path::PathBuf> {
        match self.value("RuntimeDirectoryPreserve") {
            None | Some("no") => Some(self.directory("RuntimeDirectory", instance)),
            Some("yes" | "restart") => None,
            Some(other) => panic!("{other} in {}", self.name),
        }
    }
}

fn units() -> [Unit; 2] {
    ["tanist.service", "tanist@.service"].map(Unit::read)
}

#[test]
fn a_unit_that_stops_takes_no_directory_of_another_with_it() {
    let [plain, template] = units();
    let places =
        [(&plain, "", "plain"), (&template, "billing", "billing"), (&template, "audit", "audit")];
    for (stopped, instance, stopped_name) in places {
        let removed = stopped.removed_at_stop(instance);
        for (other, instance, name) in places.iter().filter(|(_, _, name)| *name != stopped_name) {
            let kept = other.directory("RuntimeDirectory", instance);
            let is_lost = removed.as_deref().is_some_and(|removed| kept.starts_with(removed));
            assert!(!is_lost, "the stop of {stopped_name} removes the sockets of {name}");
        }
    }
}

#[test]
fn units_give_up_on_a_wrong_file_only_and_retry_everything_else() {
    for unit in units() {
        let name = unit.name;
        let given_up: Vec<&str> =
            unit.value("RestartPreventExitStatus").unwrap().split_whitespace().collect();
        assert!(given_up.contains(&"6") && !given_up.contains(&"7"), "{name}: {given_up:?}");
        assert_eq!(unit.value("Restart"), Some("on-failure"), "{name}");
        // With a limit of starts, a port that is busy for a minute would be given up.
        assert_eq!(unit.value("StartLimitIntervalSec"), Some("0"), "{name}");
        assert!(unit.value("StartLimitBurst").is_none(), "{name}");
        let seconds = |key| unit.value(key).unwrap().parse::<u32>().unwrap();
        assert!((1..=5).contains(&seconds("RestartSec")), "{name}");
        assert!(seconds("RestartSteps") > 1, "{name}");
        assert!((30..=300).contains(&seconds("RestartMaxDelaySec")), "{name}");
        assert_eq!(unit.value("LimitCORE"), Some("0"), "{name}");
    }
}
