//! Machines as network namespaces: in a row, joined by pairs of interfaces `left` and `right`, or at
//! one switch, each with an interface `eth0`. They are removed with the value, also when a test
//! panics.

use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// So many namespaces in a row.
pub(crate) struct Line {
    spaces: Namespaces,
}

impl Line {
    /// None: this process may not make namespaces, and has printed that.
    pub(crate) fn new(length: usize) -> Option<Self> {
        let line = Self { spaces: Namespaces::new(length)? };
        for pair in line.spaces.names.windows(2) {
            let (one, other) = (pair[0].as_str(), pair[1].as_str());
            let here = ["link", "add", "right", "netns", one, "type", "veth"];
            ip(&[&here[..], &["peer", "name", "left", "netns", other]].concat());
            ip(&["-n", one, "link", "set", "right", "up"]);
            ip(&["-n", other, "link", "set", "left", "up"]);
        }
        Some(line)
    }

    /// A program on the machine with this number, counted from one.
    pub(crate) fn command(&self, at: usize, program: &str) -> Command {
        self.spaces.command(at, program)
    }

    /// The interfaces of a machine.
    pub(crate) fn interfaces(&self, at: usize) -> Vec<&'static str> {
        let left = (at > 1).then_some("left");
        let right = (at < self.spaces.names.len()).then_some("right");
        left.into_iter().chain(right).collect()
    }

    /// Switches the link between this machine and the next off or on.
    pub(crate) fn link(&self, at: usize, state: &str) {
        ip(&["-n", self.spaces.name(at), "link", "set", "right", state]);
    }
}

/// Machines at one switch, which is the last of the namespaces. Machine K has 10.77.0.K/24 and
/// fd77::K/64.
pub(crate) struct Switch {
    spaces: Namespaces,
    machines: usize,
}

impl Switch {
    /// None: this process may not make namespaces, and has printed that.
    pub(crate) fn new(machines: usize) -> Option<Self> {
        let switch = Self { spaces: Namespaces::new(machines + 1)?, machines };
        let center = switch.center();
        for bridge in [WHOLE, APART] {
            let kind = ["type", "bridge", "forward_delay", "0", "mcast_snooping", "0"];
            ip(&[&["-n", center, "link", "add", bridge], &kind[..]].concat());
            ip(&["-n", center, "link", "set", bridge, "up"]);
        }
        for at in 1..=machines {
            let (name, port) = (switch.spaces.name(at), port(at));
            let here = ["link", "add", "eth0", "netns", name, "type", "veth"];
            ip(&[&here[..], &["peer", "name", &port, "netns", center]].concat());
            ip(&["-n", center, "link", "set", &port, "master", WHOLE, "up"]);
            ip(&["-n", name, "link", "set", "lo", "up"]);
            ip(&["-n", name, "link", "set", "eth0", "up"]);
            ip(&["-n", name, "address", "add", &format!("10.77.0.{at}/24"), "dev", "eth0"]);
            let six = format!("fd77::{at}/64");
            ip(&["-n", name, "address", "add", &six, "dev", "eth0", "nodad"]);
        }
        Some(switch)
    }

    /// A program on the machine with this number, counted from one.
    pub(crate) fn command(&self, at: usize, program: &str) -> Command {
        self.spaces.command(at, program)
    }

    /// What `ip` prints on a machine.
    pub(crate) fn ip(&self, at: usize, arguments: &[&str]) -> String {
        let output = try_ip(&[&["-n", self.spaces.name(at)], arguments].concat());
        let output = output.unwrap_or_else(|why| panic!("ip {}: {why}", arguments.join(" ")));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Pulls the cable of a machine, or plugs it in.
    pub(crate) fn cable(&self, at: usize, state: &str) {
        ip(&["-n", self.center(), "link", "set", &port(at), state]);
    }

    /// Cuts the network in two: these machines reach each other and none of the others.
    pub(crate) fn cut(&self, apart: &[usize]) {
        apart.iter().for_each(|at| self.move_to(*at, APART));
    }

    /// Makes the network whole.
    pub(crate) fn heal(&self) {
        (1..=self.machines).for_each(|at| self.move_to(at, WHOLE));
    }

    fn move_to(&self, at: usize, bridge: &str) {
        ip(&["-n", self.center(), "link", "set", &port(at), "master", bridge]);
    }

    fn center(&self) -> &str {
        self.spaces.name(self.machines + 1)
    }
}

/// The switch's side of a machine's cable.
fn port(at: usize) -> String {
    format!("port{at}")
}

/// So many namespaces, not joined.
pub(super) struct Namespaces {
    pub(super) names: Vec<String>,
}

impl Namespaces {
    /// None: this process may not make namespaces, and has printed that.
    pub(super) fn new(count: usize) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        remove_leftovers();
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut spaces = Self { names: Vec::new() };
        for at in 1..=count {
            let name = format!("{PREFIX}{process}-{number}-n{at}");
            if let Err(why) = try_ip(&["netns", "add", &name]) {
                assert!(
                    std::env::var_os("TANIST_TEST_REQUIRE_NETNS").is_none_or(|told| told != "1"),
                    "no network namespace could be made: {why}"
                );
                eprintln!("skipped: no network namespace could be made ({why}); run it as root");
                return None;
            }
            spaces.names.push(name);
        }
        Some(spaces)
    }

    /// The name of a namespace, counted from one.
    fn name(&self, at: usize) -> &str {
        &self.names[at - 1]
    }

    pub(super) fn command(&self, at: usize, program: &str) -> Command {
        let mut command = Command::new("ip");
        // `ip` becomes the program, so a signal to the process reaches the program.
        command.args(["netns", "exec", self.name(at), program]);
        command
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.names {
            // Pairs of interfaces are removed with their namespaces.
            if let Err(why) = try_ip(&["netns", "del", name]) {
                eprintln!("{name} is left behind: {why}");
            }
        }
    }
}

/// Whether this user may mount in a namespace of its own. If not, prints that.
pub(crate) fn can_mount() -> bool {
    let tried = Command::new("unshare")
        .args(["-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"])
        .stderr(Stdio::null())
        .status();
    let is_able = tried.is_ok_and(|status| status.success());
    if !is_able {
        eprintln!("skipped: mounts need root and unshare");
    }
    is_able
}

/// Removes namespaces of test processes that were killed.
fn remove_leftovers() {
    let Ok(list) = try_ip(&["netns", "list"]) else { return };
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    for name in list.lines().filter_map(|line| line.split(' ').next()) {
        let process = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        let is_gone = |process: &str| !std::path::Path::new("/proc").join(process).exists();
        if process.is_some_and(is_gone) {
            // Another test may be doing the same.
            let _ = try_ip(&["netns", "del", name]);
        }
    }
}

pub(super) fn ip(arguments: &[&str]) {
    try_ip(arguments).unwrap_or_else(|why| panic!("ip {}: {why}", arguments.join(" ")));
}

fn try_ip(arguments: &[&str]) -> Result<Output, String> {
    match Command::new("ip").args(arguments).output() {
        Ok(output) if output.status.success() => Ok(output),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(format!("ip, of the package iproute2: {error}")),
    }
}

const PREFIX: &str = "tanist-";
/// The switch has two halves; all machines are at the first one while the network is whole.
const WHOLE: &str = "whole";
const APART: &str = "apart";
