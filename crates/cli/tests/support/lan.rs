//! Machines on one switch, each with the interface `lan`, on which packets can be dropped by protocol
//! and direction.

use std::process::Command;

use super::namespaces::{Namespaces, ip};

/// Machines on one switch: a network namespace for each, with the interface `lan`.
pub(crate) struct Lan {
    switch: String,
    names: Vec<String>,
    /// Removes them all.
    spaces: Namespaces,
}

impl Lan {
    /// None: this process may not make namespaces, and has printed that.
    pub(crate) fn new(length: usize) -> Option<Self> {
        let spaces = Namespaces::new(length + 1)?;
        let mut names = spaces.names.clone();
        let switch = names.remove(0);
        let lan = Self { switch, names, spaces };
        ip(&["-n", &lan.switch, "link", "add", "bridge0", "type", "bridge"]);
        ip(&["-n", &lan.switch, "link", "set", "bridge0", "up"]);
        for (at, name) in lan.names.iter().enumerate() {
            let (at, port) = (at + 1, format!("port{}", at + 1));
            let here = ["link", "add", "lan", "netns", name, "type", "veth"];
            ip(&[&here[..], &["peer", "name", &port, "netns", &lan.switch]].concat());
            ip(&["-n", &lan.switch, "link", "set", &port, "master", "bridge0", "up"]);
            let address = format!("{}/24", Self::host(at));
            ip(&["-n", name, "address", "add", &address, "dev", "lan"]);
            ip(&["-n", name, "link", "set", "lo", "up"]);
            ip(&["-n", name, "link", "set", "lan", "up"]);
            // Rules of a test come before the table of the machine's own addresses.
            ip(&["-n", name, "rule", "add", "pref", "100", "lookup", "local"]);
            ip(&["-n", name, "rule", "del", "pref", "0"]);
        }
        Some(lan)
    }

    /// The address of the machine with this number, counted from one.
    pub(crate) fn host(at: usize) -> String {
        format!("10.77.0.{at}")
    }

    /// A program on a machine.
    pub(crate) fn command(&self, at: usize, program: &str) -> Command {
        self.spaces.command(at + 1, program)
    }

    /// Gives a machine another address in place of the one that it has.
    pub(crate) fn move_host(&self, at: usize, to: &str) {
        let name = &self.names[at - 1];
        ip(&["-n", name, "address", "flush", "dev", "lan"]);
        ip(&["-n", name, "address", "add", &format!("{to}/24"), "dev", "lan"]);
    }

    /// Lets a machine drop all UDP packets of one direction.
    pub(crate) fn drop_udp(&self, at: usize, direction: Direction) {
        let name = &self.names[at - 1];
        ip(&[&["-n", name, "rule", "add", "pref", "1"], direction.rule()].concat());
    }

    /// Ends what [`Self::drop_udp`] began.
    pub(crate) fn let_udp_pass(&self, at: usize, direction: Direction) {
        let name = &self.names[at - 1];
        ip(&[&["-n", name, "rule", "del", "pref", "1"], direction.rule()].concat());
    }
}

/// Where a packet goes, seen from a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
}

impl Direction {
    /// The rule of routing that drops UDP; what the machine itself sends comes from `lo`.
    const fn rule(self) -> &'static [&'static str] {
        match self {
            Self::In => &["iif", "lan", "ipproto", "udp", "blackhole"],
            Self::Out => &["iif", "lo", "ipproto", "udp", "blackhole"],
        }
    }
}
