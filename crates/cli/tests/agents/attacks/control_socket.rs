//! Clients of the control socket that hold connections and say nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::agents::{Agent, Home};
use crate::home::{self, until};

#[test]
fn idle_clients_keep_nobody_from_being_answered_or_from_attaching_a_job() {
    let home = Home::new();
    home.file("n1", "n1", &[]);
    let mut agent = start(&home, "ulimit -Sn 1024");
    agent.members_are(&["n1"]);
    let idle = idle_clients(&home, 1100);
    flooded(&home, &mut agent);
    // Those that gave way were told so.
    let told = idle.iter().filter(|stream| closing_words(stream).contains("error")).count();
    assert!(told > 900, "{told} of {} were told", idle.len());
}

#[test]
fn a_small_limit_of_descriptors_is_shared_out_and_warned_of() {
    let home = Home::new();
    home.file("n1", "n1", &[]);
    let mut agent = start(&home, "ulimit -n 200");
    agent.members_are(&["n1"]);
    assert!(agent.log().contains("LimitNOFILE"), "{}", agent.log());
    let _idle = idle_clients(&home, 400);
    let _watching: Vec<UnixStream> = watchers(&home, 400);
    flooded(&home, &mut agent);
}

#[test]
fn watchers_have_places_of_their_own() {
    let home = Home::new();
    home.file("n1", "n1", &[]);
    let mut agent = start(&home, "true");
    agent.members_are(&["n1"]);
    let watching = watchers(&home, 300);
    let first_line = |stream: &UnixStream| {
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line
    };
    let refused = watching.iter().filter(|stream| first_line(stream).contains("\"error\""));
    let refused = refused.count();
    assert!((1..300).contains(&refused), "{refused} of 300 were refused");
    flooded(&home, &mut agent);
}

#[test]
fn clients_that_never_end_their_line_do_no_harm() {
    let home = Home::new();
    home.file("n1", "n1", &[]);
    let mut agent = start(&home, "true");
    agent.members_are(&["n1"]);
    let _unfinished: Vec<UnixStream> = connections(&home, 200)
        .inspect(|mut stream| stream.write_all(b"{\"ask\":\"sta").unwrap())
        .collect();
    flooded(&home, &mut agent);
}

/// The agent still answers, leads, and takes a job.
fn flooded(home: &Home, agent: &mut Agent) {
    let status = home.run(&["status", "--socket", "n1.sock"]);
    assert!(status.status.success(), "{status:?}\n{}", agent.log());
    let mut command = home.command();
    command.args(["run", "--socket", "n1.sock", "--", "sh", "-c", "echo runs > started"]);
    let ran = command.stderr(Stdio::piped()).output().unwrap();
    assert!(ran.status.success(), "{ran:?}\n{}", agent.log());
    assert_eq!(std::fs::read_to_string(home.path().join("started")).unwrap(), "runs\n");
    assert_eq!(agent.ask("status")["role"], "leader");
    assert_eq!(agent.child.try_wait().unwrap(), None, "{}", agent.log());
    home::signal(agent.child.id(), "-TERM");
    assert_eq!(agent.ends(), Some(0));
}

/// An agent of the file n1.toml, started by a shell that sets limits first.
fn start(home: &Home, limits: &str) -> Agent {
    let log = std::fs::File::create(home.path().join("n1.log")).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limits} && exec \"$0\" agent -c n1.toml")]);
    command.arg(env!("CARGO_BIN_EXE_tanist")).current_dir(home.path());
    Agent::spawn(home, "n1", command.stdout(Stdio::null()).stderr(log))
}

fn idle_clients(home: &Home, count: usize) -> Vec<UnixStream> {
    connections(home, count).collect()
}

fn watchers(home: &Home, count: usize) -> Vec<UnixStream> {
    let watch = |mut stream: &UnixStream| {
        // One that was refused at once has been closed.
        let _ = stream.write_all(b"{\"ask\":\"watch\"}\n");
    };
    connections(home, count).inspect(watch).collect()
}

fn connections(home: &Home, count: usize) -> impl Iterator<Item = UnixStream> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    setrlimit(Resource::Nofile, raised).unwrap();
    let path: PathBuf = home.path().join("n1.sock");
    (0..count).map(move |_| {
        // The queue of the socket may be full for a moment.
        until("a connection", || UnixStream::connect(&path).ok())
    })
}

/// What came on a connection that was closed; nothing from one that is open.
fn closing_words(mut stream: &UnixStream) -> String {
    stream.set_nonblocking(true).unwrap();
    let mut words = Vec::new();
    // An open one has nothing more to say at the moment.
    let _ = stream.read_to_end(&mut words);
    String::from_utf8(words).unwrap()
}
