//! A job in a terminal, which `script` makes.

use std::fs::File;
use std::process::{Command, Stdio};

use super::home::{Home, Started, until};

fn in_terminal(home: &Home, script: &str) -> Command {
    let program = env!("CARGO_BIN_EXE_tanist");
    let line = format!("{program} run -c n1.toml -- sh -c '{script}'");
    let mut command = Command::new("script");
    // The terminal shows the keys that it has taken.
    command.args(["-E", "always", "-qec", &line, "/dev/null"]).current_dir(home.path());
    command.env("TANIST_TEST_HOME", home.path()).stdout(Stdio::piped());
    command
}

#[test]
fn the_command_has_the_terminal_and_can_read_from_it() {
    let home = Home::new(1, "");
    let script = "test -t 0 && test -t 1 && test -t 2 && touch terminal; read word; \
                  echo \"$word\" > word; exit 3";
    let mut run = in_terminal(&home, script).stdin(Stdio::piped()).spawn().unwrap();
    until("the command", || home.file("terminal").exists().then_some(()));
    std::io::Write::write_all(&mut run.stdin.take().unwrap(), b"hello\n").unwrap();
    let mut run = Started(run);
    assert_eq!(run.code(), 3);
    assert_eq!(home.read("word"), "hello\n");
    home.is_deserted();
}

#[test]
fn ctrl_c_reaches_the_command_and_ctrl_z_does_not_hold_it() {
    let home = Home::new(1, "");
    let script = "trap \"echo int > heard; exit 4\" INT; touch ready; \
                  while :; do sleep 0.01; touch alive; done";
    let screen = File::create(home.file("screen")).unwrap();
    let mut run = in_terminal(&home, script);
    let mut run = run.stdin(Stdio::piped()).stdout(screen).spawn().unwrap();
    let mut keys = run.stdin.take().unwrap();
    let mut run = Started(run);
    until("the command", || home.file("ready").exists().then_some(()));
    // Again and again, so that it also comes while the shell is about to start something.
    for times in 1..=20 {
        std::io::Write::write_all(&mut keys, b"\x1a").unwrap();
        // The key is shown after its signal was sent.
        home.read_when("screen", |text| text.matches("^Z").count() == times);
        let _ = std::fs::remove_file(home.file("alive"));
        until("the command to go on", || home.file("alive").exists().then_some(()));
    }
    std::io::Write::write_all(&mut keys, b"\x03").unwrap();
    assert_eq!(run.code(), 4);
    assert_eq!(home.read("heard"), "int\n");
    home.is_deserted();
}

#[test]
fn the_terminal_is_given_back() {
    let home = Home::new(1, "");
    let program = env!("CARGO_BIN_EXE_tanist");
    // The second reader is the shell's own: it would be stopped if another group had the terminal.
    let line =
        format!("{program} run -c n1.toml -- true; touch ready; read word; echo $word > word");
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(home.path());
    command.env("TANIST_TEST_HOME", home.path()).stdout(Stdio::piped()).stdin(Stdio::piped());
    let mut run = command.spawn().unwrap();
    let mut keys = run.stdin.take().unwrap();
    let mut run = Started(run);
    until("the shell to go on", || home.file("ready").exists().then_some(()));
    std::io::Write::write_all(&mut keys, b"back\n").unwrap();
    assert_eq!(run.code(), 0);
    assert_eq!(home.read("word"), "back\n");
}
