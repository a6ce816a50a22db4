//! Clients of the control socket that hold connections and say nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::agent::Agent;
use crate::support::fleet::Fleet;
use crate::support::wait::until;

#[test]
fn idle_clients_keep_nobody_from_being_answered_or_from_attaching_a_job() {
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[]);
    let mut agent = start(&fleet, "ulimit -Sn 1024");
    agent.members_are(&["n1"]);
    let idle = idle_clients(&fleet, 1100);
    flooded(&fleet, &mut agent);
    // Clients that were closed to make room were told so.
    let told = idle.iter().filter(|stream| closing_words(stream).contains("error")).count();
    assert!(told > 900, "{told} of {} were told", idle.len());
}

#[test]
fn a_small_limit_of_descriptors_is_shared_out_and_warned_of() {
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[]);
    let mut agent = start(&fleet, "ulimit -n 200");
    agent.members_are(&["n1"]);
    assert!(agent.log().contains("LimitNOFILE"), "{}", agent.log());
    let _idle = idle_clients(&fleet, 400);
    let _watching: Vec<UnixStream> = watchers(&fleet, 400);
    flooded(&fleet, &mut agent);
}

#[test]
fn watchers_have_places_of_their_own() {
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[]);
    let mut agent = start(&fleet, "true");
    agent.members_are(&["n1"]);
    let watching = watchers(&fleet, 300);
    let first_line = |stream: &UnixStream| {
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line
    };
    let refused = watching.iter().filter(|stream| first_line(stream).contains("\"error\""));
    let refused = refused.count();
    assert!((1..300).contains(&refused), "{refused} of 300 were refused");
    flooded(&fleet, &mut agent);
}

#[test]
fn clients_that_never_end_their_line_do_no_harm() {
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[]);
    let mut agent = start(&fleet, "true");
    agent.members_are(&["n1"]);
    let _unfinished: Vec<UnixStream> = connections(&fleet, 200)
        .inspect(|mut stream| stream.write_all(b"{\"ask\":\"sta").unwrap())
        .collect();
    flooded(&fleet, &mut agent);
}

/// The agent still answers, leads, and takes a job.
fn flooded(fleet: &Fleet, agent: &mut Agent) {
    let status = fleet.run(&["status", "--socket", "n1.sock"]);
    assert!(status.status.success(), "{status:?}\n{}", agent.log());
    let mut command = fleet.tanist(&[]);
    command.args(["run", "--socket", "n1.sock", "--", "sh", "-c", "echo runs > started"]);
    let ran = command.stderr(Stdio::piped()).output().unwrap();
    assert!(ran.status.success(), "{ran:?}\n{}", agent.log());
    assert_eq!(std::fs::read_to_string(fleet.file("started")).unwrap(), "runs\n");
    assert_eq!(agent.ask("status")["role"], "leader");
    assert_eq!(agent.ended(), None, "{}", agent.log());
    agent.signal("-TERM");
    assert_eq!(agent.ends(), Some(0));
}

/// An agent of the file n1.toml, started by a shell that sets limits first.
fn start(fleet: &Fleet, limits: &str) -> Agent {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limits} && exec \"$0\" agent -c n1.toml")]);
    command.arg(env!("CARGO_BIN_EXE_tanist")).current_dir(fleet.path());
    fleet.spawn("n1", &mut command)
}

fn idle_clients(fleet: &Fleet, count: usize) -> Vec<UnixStream> {
    connections(fleet, count).collect()
}

fn watchers(fleet: &Fleet, count: usize) -> Vec<UnixStream> {
    let watch = |mut stream: &UnixStream| {
        // A connection that was refused is closed already.
        let _ = stream.write_all(b"{\"ask\":\"watch\"}\n");
    };
    connections(fleet, count).inspect(watch).collect()
}

fn connections(fleet: &Fleet, count: usize) -> impl Iterator<Item = UnixStream> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    setrlimit(Resource::Nofile, raised).unwrap();
    let path: PathBuf = fleet.file("n1.sock");
    (0..count).map(move |_| {
        // The queue of the socket may be full for a moment.
        until("a connection", || UnixStream::connect(&path).ok())
    })
}

/// What was sent on a connection before it was closed; empty for an open one.
fn closing_words(mut stream: &UnixStream) -> String {
    stream.set_nonblocking(true).unwrap();
    let mut words = Vec::new();
    // An open connection has nothing more to read.
    let _ = stream.read_to_end(&mut words);
    String::from_utf8(words).unwrap()
}
