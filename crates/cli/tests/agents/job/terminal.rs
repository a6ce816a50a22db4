//! A job in a terminal, which `script` makes.

use std::fs::File;
use std::process::{Command, Stdio};

use crate::support::agent::Process;
use crate::support::fleet::Fleet;
use crate::support::wait::until;

fn in_terminal(fleet: &Fleet, script: &str) -> Command {
    let program = env!("CARGO_BIN_EXE_tanist");
    let line = format!("{program} run -c n1.toml -- sh -c '{script}'");
    let mut command = Command::new("script");
    // The terminal echoes the keys that it has taken.
    command.args(["-E", "always", "-qec", &line, "/dev/null"]);
    fleet.mark(command.stdout(Stdio::piped()));
    command
}

#[test]
fn the_command_has_the_terminal_and_can_read_from_it() {
    let fleet = Fleet::configured(1, "");
    let script = "test -t 0 && test -t 1 && test -t 2 && touch terminal; read word; \
                  echo \"$word\" > word; exit 3";
    let mut run = in_terminal(&fleet, script).stdin(Stdio::piped()).spawn().unwrap();
    until("the command", || fleet.file("terminal").exists().then_some(()));
    std::io::Write::write_all(&mut run.stdin.take().unwrap(), b"hello\n").unwrap();
    let mut run = Process::from(run);
    assert_eq!(run.code(), 3);
    assert_eq!(fleet.read("word"), "hello\n");
    fleet.no_process_runs();
}

#[test]
fn ctrl_c_reaches_the_command_and_ctrl_z_does_not_hold_it() {
    let fleet = Fleet::configured(1, "");
    let script = "trap \"echo int > heard; exit 4\" INT; touch ready; \
                  while :; do sleep 0.01; touch alive; done";
    let screen = File::create(fleet.file("screen")).unwrap();
    let mut run = in_terminal(&fleet, script);
    let mut run = run.stdin(Stdio::piped()).stdout(screen).spawn().unwrap();
    let mut keys = run.stdin.take().unwrap();
    let mut run = Process::from(run);
    until("the command", || fleet.file("ready").exists().then_some(()));
    // Many times, so that the key also comes while the shell is about to start a process.
    for times in 1..=20 {
        std::io::Write::write_all(&mut keys, b"\x1a").unwrap();
        // The terminal echoes the key after it has sent the signal.
        fleet.read_when("screen", |text| text.matches("^Z").count() == times);
        let _ = std::fs::remove_file(fleet.file("alive"));
        until("the command to go on", || fleet.file("alive").exists().then_some(()));
    }
    std::io::Write::write_all(&mut keys, b"\x03").unwrap();
    assert_eq!(run.code(), 4);
    assert_eq!(fleet.read("heard"), "int\n");
    fleet.no_process_runs();
}

#[test]
fn the_terminal_is_given_back() {
    let fleet = Fleet::configured(1, "");
    let program = env!("CARGO_BIN_EXE_tanist");
    // The shell reads after the job has ended: it would be stopped if another process group had the
    // terminal.
    let line =
        format!("{program} run -c n1.toml -- true; touch ready; read word; echo $word > word");
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]);
    fleet.mark(command.stdout(Stdio::piped()).stdin(Stdio::piped()));
    let mut run = command.spawn().unwrap();
    let mut keys = run.stdin.take().unwrap();
    let mut run = Process::from(run);
    until("the shell to go on", || fleet.file("ready").exists().then_some(()));
    std::io::Write::write_all(&mut keys, b"back\n").unwrap();
    assert_eq!(run.code(), 0);
    assert_eq!(fleet.read("word"), "back\n");
}
