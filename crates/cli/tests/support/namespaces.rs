//! Machines in a row that reach only the next ones: network namespaces joined by pairs of
//! interfaces, `left` and `right`. They are removed with the value, also when a test panics.

use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// So many namespaces in a row.
pub(crate) struct Line {
    names: Vec<String>,
}

impl Line {
    /// None: this process may not make namespaces, and has printed that.
    pub(crate) fn new(length: usize) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        remove_leftovers();
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut line = Self { names: Vec::new() };
        for at in 1..=length {
            let name = format!("{PREFIX}{process}-{number}-n{at}");
            if let Err(why) = try_ip(&["netns", "add", &name]) {
                assert!(
                    std::env::var_os("TANIST_TEST_REQUIRE_NETNS").is_none_or(|told| told != "1"),
                    "no network namespace could be made: {why}"
                );
                eprintln!("skipped: no network namespace could be made ({why}); run it as root");
                return None;
            }
            line.names.push(name);
        }
        for pair in line.names.windows(2) {
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
        let mut command = Command::new("ip");
        // `ip` becomes the program, so a signal to the process reaches the program.
        command.args(["netns", "exec", &self.names[at - 1], program]);
        command
    }

    /// The interfaces of a machine.
    pub(crate) fn interfaces(&self, at: usize) -> Vec<&'static str> {
        let left = (at > 1).then_some("left");
        let right = (at < self.names.len()).then_some("right");
        left.into_iter().chain(right).collect()
    }

    /// Switches the link between this machine and the next off or on.
    pub(crate) fn link(&self, at: usize, state: &str) {
        ip(&["-n", &self.names[at - 1], "link", "set", "right", state]);
    }
}

impl Drop for Line {
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

fn ip(arguments: &[&str]) {
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
