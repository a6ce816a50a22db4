//! Hooks and health programs that hang.
//!
//! The file system that hangs is an autofs mount whose daemon never answers, in a mount namespace
//! of the agent's own: every lookup in it blocks, as on a server that has crashed. That takes root;
//! without it these tests say so and pass.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crate::support::agent::Agent;
use crate::support::fleet::Fleet;
use crate::support::wait::until;

#[test]
fn a_hook_on_a_file_system_that_hangs_is_ended_by_its_timeout() {
    let Some(hung) = Hung::new() else { return };
    let fleet = Fleet::new(3);
    let hook = hung.path("server/hook");
    fleet.configure_as(
        "n1",
        "n1",
        &[("hooks", format!("{{ leader = {hook:?}, timeout = \"300ms\" }}"))],
    );
    let mut agent = hung.start(&fleet, &["agent", "-c", "n1.toml"]);
    agent.members_are(&["n1"]);
    until("the timeout", || agent.log().contains("took too long").then_some(()));
    assert_eq!(agent.ask("status")["role"], "leader");
    // No process of the hook is left that could run later.
    until("the end of the hook", || children(agent.id()).is_empty().then_some(()));
    agent.signal("-TERM");
    assert_eq!(agent.ends(), Some(0));
}

#[test]
fn a_hook_whose_interpreter_is_on_a_file_system_that_hangs_is_ended_by_its_timeout() {
    let Some(hung) = Hung::new() else { return };
    let fleet = Fleet::new(3);
    let hook = hung.script("hook", &format!("#!{}\n", hung.path("server/sh").display()));
    fleet.configure_as(
        "n1",
        "n1",
        &[("hooks", format!("{{ any = {hook:?}, timeout = \"300ms\" }}"))],
    );
    let mut agent = hung.start(&fleet, &["agent", "-c", "n1.toml"]);
    agent.members_are(&["n1"]);
    until("the timeout", || agent.log().contains("took too long").then_some(()));
    assert_eq!(agent.ask("status")["role"], "leader");
    agent.signal("-TERM");
    assert_eq!(agent.ends(), Some(0));
}

#[test]
fn a_reload_from_a_file_system_that_hangs_does_not_block_the_agent() {
    let Some(hung) = Hung::new() else { return };
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[]);
    let mut agent = hung.start(&fleet, &["agent", "-c", "n1.toml"]);
    agent.members_are(&["n1"]);
    let file = fleet.file("n1.toml");
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(hung.path("server/n1.toml"), &file).unwrap();
    agent.signal("-HUP");
    until("a thread that hangs", || hangs(agent.id()).then_some(()));
    assert_eq!(agent.ask("status")["role"], "leader");
    agent.signal("-TERM");
    assert_eq!(agent.ends(), Some(0));
}

#[test]
fn a_health_program_on_a_file_system_that_hangs_counts_as_failed() {
    let Some(hung) = Hung::new() else { return };
    let fleet = Fleet::new(3);
    let program = hung.path("server/check");
    let health = format!(
        "{{ command = [{program:?}], every = \"300ms\", timeout = \"200ms\", fail_after = 3 }}"
    );
    fleet.configure_as("n1", "n1", &[("health", health)]);
    let mut agent = hung.start(&fleet, &["agent", "-c", "n1.toml"]);
    agent.when("status", |status| status["healthy"] == false);
    agent.signal("-TERM");
    assert_eq!(agent.ends(), Some(0));
}

#[test]
fn a_second_signal_ends_an_agent_that_starts_and_hangs() {
    let Some(hung) = Hung::new() else { return };
    let fleet = Fleet::new(3);
    let data = hung.path("server/data");
    fleet.configure_as("n1", "n1", &[("data_dir", format!("{data:?}"))]);
    let mut agent = hung.start(&fleet, &["agent", "-c", "n1.toml"]);
    signal_until_it_ends(&mut agent);
}

#[test]
fn a_second_signal_ends_an_agent_whose_main_thread_hangs() {
    let Some(hung) = Hung::new() else { return };
    let fleet = Fleet::new(3);
    let socket = hung.path("server/n1.sock");
    fleet.configure_as("n1", "n1", &[("socket", format!("{socket:?}"))]);
    let mut agent = hung.start(&fleet, &["agent", "-c", "n1.toml"]);
    signal_until_it_ends(&mut agent);
}

#[test]
fn a_second_signal_ends_a_job_whose_node_starts_and_hangs() {
    let Some(hung) = Hung::new() else { return };
    let fleet = Fleet::new(3);
    let data = hung.path("server/data");
    fleet.configure_as("n1", "n1", &[("data_dir", format!("{data:?}"))]);
    let mut agent = hung.start(&fleet, &["run", "-c", "n1.toml", "--", "true"]);
    signal_until_it_ends(&mut agent);
}

#[test]
fn a_second_signal_ends_an_agent_at_once_while_a_hook_runs() {
    let Some(hung) = Hung::new() else { return };
    let fleet = Fleet::new(3);
    let hook = hung.script("hook", "#!/bin/sh\ntrap '' TERM\necho stays\nsleep 1000\n");
    fleet.configure_as(
        "n1",
        "n1",
        &[("hooks", format!("{{ stop = {hook:?}, timeout = \"10m\" }}"))],
    );
    let mut agent = hung.start(&fleet, &["agent", "-c", "n1.toml"]);
    agent.members_are(&["n1"]);
    agent.signal("-TERM");
    until("the hook", || agent.log().contains("stays").then_some(()));
    agent.signal("-TERM");
    assert_eq!(agent.ends(), Some(130));
}

/// Two signals are enough once the agent handles signals; before that, one is.
fn signal_until_it_ends(agent: &mut Agent) {
    until("a thread that hangs", || hangs(agent.id()).then_some(()));
    agent.signal("-TERM");
    agent.signal("-INT");
    let code = agent.ends();
    assert_eq!(code, Some(130), "{}", agent.log());
}

/// Its child processes that were not reaped.
fn children(process: u32) -> String {
    let path = format!("/proc/{process}/task/{process}/children");
    std::fs::read_to_string(path).unwrap()
}

/// Whether one of its threads waits for the file system.
fn hangs(process: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    let waits_in = |thread: std::fs::DirEntry| {
        std::fs::read_to_string(thread.path().join("wchan")).unwrap_or_default()
    };
    threads.flatten().any(|thread| waits_in(thread).contains("autofs"))
}

/// A directory in which every lookup below `server` hangs, for programs that are started by it.
struct Hung {
    directory: tempfile::TempDir,
}

impl Hung {
    /// None if such a mount cannot be made here.
    fn new() -> Option<Self> {
        // Hooks below /tmp are refused, since other users can write there.
        let directory = tempfile::tempdir_in(std::env::var_os("HOME").unwrap()).unwrap();
        let hung = Self { directory };
        std::fs::create_dir(hung.path("mount")).unwrap();
        let tried = hung.command("true", &[]).output().unwrap();
        if !tried.status.success() {
            eprintln!("skipped: no autofs mount can be made here: {tried:?}");
            return None;
        }
        Some(hung)
    }

    /// `server/...` is below the mount that hangs.
    fn path(&self, name: &str) -> PathBuf {
        match name.strip_prefix("server/") {
            Some(_) => self.directory.path().join("mount").join(name),
            None => self.directory.path().join(name),
        }
    }

    fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Starts a program that sees the mount. No daemon reads the pipe, which holds itself open; the
    /// process group that may pass the mount is one that these programs are not in.
    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let script = "cd \"$0\" && rm -f pipe && mkfifo pipe && exec 9<>pipe && \
                      mount -t autofs -o fd=9,pgrp=1,minproto=5,maxproto=5,indirect hung mount && \
                      exec 9>&- && cd \"$OLDPWD\" && exec \"$@\"";
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", script]).arg(self.directory.path());
        command.arg(program).args(arguments);
        command
    }

    /// The program under test, as node n1 of a fleet.
    fn start(&self, fleet: &Fleet, arguments: &[&str]) -> Agent {
        let mut command = self.command(env!("CARGO_BIN_EXE_tanist"), arguments);
        fleet.spawn("n1", &mut command)
    }
}
