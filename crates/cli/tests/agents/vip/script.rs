//! The program by itself: what it does twice, what it removes, what it says when something is missing.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Output;

use super::{PROGRAM, VIP, VIP6};
use crate::support::namespaces::Switch;

/// A machine with the program and its settings.
struct Bench {
    switch: Switch,
    directory: tempfile::TempDir,
}

impl Bench {
    fn new(settings: &str) -> Option<Self> {
        let switch = Switch::new(1)?;
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("vip.conf"), settings).unwrap();
        Some(Self { switch, directory })
    }

    /// Runs it as a hook.
    fn hook(&self, event: &str, role: &str) -> Output {
        self.run(&[&format!("TANIST_EVENT={event}"), &format!("TANIST_ROLE={role}")], &[])
    }

    fn run(&self, variables: &[&str], arguments: &[&str]) -> Output {
        let mut command = self.switch.command(1, "env");
        let file = format!("TANIST_VIP_CONF={}", self.directory.path().join("vip.conf").display());
        command.arg(file).args(variables).arg(PROGRAM).args(arguments);
        command.output().unwrap()
    }

    /// The virtual addresses that the machine has.
    fn addresses(&self) -> Vec<&'static str> {
        let shown = self.switch.ip(1, &["-o", "address", "show", "dev", "eth0"]);
        [VIP, VIP6].into_iter().filter(|vip| shown.contains(&format!(" {vip}/"))).collect()
    }

    /// A path with the programs that every system has, and neither perl nor arping.
    fn bare_path(&self) -> String {
        let path = self.directory.path().join("bin");
        std::fs::create_dir(&path).unwrap();
        for name in ["sh", "ip", "sed", "tr", "sleep"] {
            let places = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];
            let found =
                places.iter().map(|place| Path::new(place).join(name)).find(|at| at.exists());
            symlink(found.unwrap(), path.join(name)).unwrap();
        }
        format!("PATH={}", path.display())
    }
}

fn text(output: &Output) -> String {
    let bytes = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8(bytes).unwrap()
}

const SETTINGS: &str = "ADDRESS=10.77.0.100/24 fd77::100/64\nINTERFACE=eth0\nREPEAT=\n";

#[test]
fn every_event_may_be_told_twice() {
    let Some(bench) = Bench::new(SETTINGS) else { return };
    for event in ["suspended", "member", "stop"] {
        for _ in 0..2 {
            let took = bench.hook("leader", "leader");
            assert!(took.status.success(), "{}", text(&took));
            assert_eq!(bench.addresses(), [VIP, VIP6]);
        }
        let announced = bench.hook("members", "leader");
        assert!(announced.status.success(), "{}", text(&announced));
        for _ in 0..2 {
            let dropped = bench.hook(event, "suspended");
            assert!(dropped.status.success(), "{}", text(&dropped));
            assert_eq!(bench.addresses(), [""; 0], "{event}");
        }
        assert_eq!(text(&bench.hook("members", "member")), "");
    }
}

#[test]
fn what_is_left_with_another_prefix_is_removed_and_other_addresses_stay() {
    let Some(bench) = Bench::new(SETTINGS) else { return };
    bench.switch.ip(1, &["address", "add", "10.77.0.100/32", "dev", "eth0"]);
    let dropped = bench.hook("suspended", "suspended");
    assert!(dropped.status.success(), "{}", text(&dropped));
    let shown = bench.switch.ip(1, &["-o", "address", "show", "dev", "eth0"]);
    assert!(!shown.contains("10.77.0.100") && shown.contains("10.77.0.1/24"), "{shown}");
}

#[test]
fn an_address_that_cannot_be_announced_is_added_and_the_text_says_what_to_install() {
    let Some(bench) = Bench::new(SETTINGS) else { return };
    let took = bench.run(&[&bench.bare_path()], &["take"]);
    let told = text(&took);
    assert!(took.status.success(), "{told}");
    assert_eq!(bench.addresses(), [VIP, VIP6]);
    assert!(told.contains("10.77.0.100/24 is NOT ANNOUNCED"), "{told}");
    assert!(told.contains("iputils-arping") && told.contains("ndsend"), "{told}");
}

#[test]
fn wrong_settings_are_named_with_what_is_expected() {
    for (settings, words) in [
        ("INTERFACE=eth0\n", "ADDRESS is missing"),
        ("ADDRESS=10.77.0.100/24\n", "INTERFACE is missing"),
        ("ADDRESS=10.77.0.100\nINTERFACE=eth0\n", "`10.77.0.100` has no prefix"),
        ("ADDRESS=10.77.0.100/24\nINTERFACE=eth7\n", "no interface `eth7`"),
        ("ADDRES=10.77.0.100/24\nINTERFACE=eth0\n", "`ADDRES=10.77.0.100/24` is not known"),
    ] {
        let Some(bench) = Bench::new(settings) else { return };
        let refused = bench.hook("leader", "leader");
        let told = text(&refused);
        assert!(!refused.status.success() && told.contains(words), "{settings}: {told}");
    }
}
