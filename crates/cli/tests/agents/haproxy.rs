//! A real HAProxy with the configuration that comes with tanist, in front of three agents and three
//! services.

mod switchover;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::http::agents::Agents;
use crate::http::client::{get, head, raw};
use crate::support::wait::{LIMIT, until};

#[test]
fn requests_follow_the_leader_and_members_are_in_maintenance_and_never_down() {
    let Some(program) = find("haproxy") else {
        eprintln!("skipped: there is no haproxy; install Debian's package of that name");
        return;
    };
    let mut agents = Agents::start(3, "algorithm = \"bully\"");
    let status = |to, path| raw(to, &head(to, "GET", path, &[], "")).map_or(0, |a| a.status);
    let http = [1, 2, 3].map(|node| agents.fleet.http(node));
    until("n3 leads all", || {
        (http.map(|to| status(to, "/readyz?leader")) == [200; 3]
            && status(http[2], "/leader") == 200)
            .then_some(())
    });
    until("all are in one group", || {
        (get(http[2], "/v1/status").json()["members"].as_array().unwrap().len() == 3).then_some(())
    });
    let mut services: Vec<Option<Service>> = (1..=3)
        .map(|node| Some(Service::start(agents.fleet.spare(node), format!("n{node}"))))
        .collect();
    let places = [0, 1, 2].map(|at: usize| services[at].as_ref().unwrap().address);
    let proxy = Proxy::start(&program, &agents, places, 3);
    let load = proxy.load();
    until("n3 answers", || load.has("n3").then_some(()));

    // The leader's machine crashes: agent and service at once.
    agents.kill(3);
    drop(services[2].take());
    until("n2 answers", || load.has("n2").then_some(()));
    until("n3 is down", || proxy.states()["n3"].starts_with("DOWN").then_some(()));
    let before = load.count("n2");
    until("n2 goes on", || (load.count("n2") > before + 100).then_some(()));
    let now = proxy.states();
    assert_eq!((now["n1"].as_str(), now["n2"].as_str()), ("MAINT", "UP"), "{now:?}");

    // It restarts and leads again, as in bully.
    services[2] = Some(Service::start(places[2], "n3".to_owned()));
    let before = load.count("n3");
    agents.launch(3);
    until("n3 answers again", || (load.count("n3") > before + 100).then_some(()));
    until("n2 is a member", || (proxy.states()["n2"] == "MAINT").then_some(()));

    // Requests in flight to n2 have been answered when n3 has answered once more.
    let answered = load.count("n3");
    until("n3 answers", || (load.count("n3") > answered).then_some(()));
    let (old, new) = (load.count("n2"), load.count("n3"));
    until("n3 goes on", || (load.count("n3") > new + 100).then_some(()));
    assert_eq!(load.count("n2"), old, "a member in maintenance gets nothing");

    let (order, seen) = (load.stop(), proxy.seen.lock().unwrap().clone());
    // During a handover both may get requests, until the next check.
    assert!(order.starts_with(&["n3".to_owned(), "n2".to_owned()]), "{order:?}");
    assert!(!order.contains(&"n1".to_owned()), "it never led: {order:?}");
    for node in ["n1", "n2"] {
        let states = &seen[node];
        assert!(states.contains("MAINT"), "{node}: {states:?}");
        let is_down = |state: &String| state.starts_with("DOWN");
        assert!(!states.iter().any(is_down), "{node} was never down: {states:?}");
    }
}

/// A service beside a node: it answers with the node's name.
struct Service {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    fn start(address: SocketAddr, name: String) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if told.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(mut stream) = stream else { continue };
                let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
                let mut bytes = [0; 2048];
                // HAProxy sends a head in one piece.
                if stream.read(&mut bytes).is_ok_and(|count| count > 0) {
                    let length = name.len();
                    let answer = format!(
                        "HTTP/1.1 200 OK\r\nConnection: close\r\n\
                         Content-Length: {length}\r\n\r\n{name}"
                    );
                    let _ = stream.write_all(answer.as_bytes());
                }
            }
        });
        Self { address, is_over, thread: Some(thread) }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread, so that it closes its port.
        let _ = std::net::TcpStream::connect(self.address);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// HAProxy, and a thread that records its states.
struct Proxy {
    child: Child,
    address: SocketAddr,
    socket: PathBuf,
    /// Every state that a server was in.
    seen: Arc<Mutex<BTreeMap<String, BTreeSet<String>>>>,
    is_over: Arc<AtomicBool>,
}

impl Proxy {
    fn start(program: &Path, agents: &Agents, places: [SocketAddr; 3], leader: usize) -> Self {
        let (address, socket) = (agents.fleet.spare(4), agents.fleet.file("admin.sock"));
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/haproxy/haproxy.cfg");
        let text = std::fs::read_to_string(file).unwrap();
        let mut text =
            replace(&text, "/run/haproxy/admin.sock mode", &format!("{} mode", socket.display()));
        text = replace(&text, "bind :8080", &format!("bind {address}"));
        for (node, place) in (1..).zip(places) {
            let (http, check) =
                (agents.fleet.http(node).port(), agents.fleet.agent_check(node).port());
            let old = format!("\n    server n{node} 10.0.0.{node}:8000 port 7480 agent-port 7482");
            let new = format!("\n    server n{node} {place} port {http} agent-port {check}");
            text = replace(&text, &old, &new);
        }
        let path = agents.fleet.file("haproxy.cfg");
        std::fs::write(&path, &text).unwrap();
        let tested = Command::new(program).args(["-c", "-f"]).arg(&path).output().unwrap();
        assert!(tested.status.success(), "{tested:?}");
        // Not as a daemon and without a master, so that there is one process.
        let child = Command::new(program)
            .args(["-db", "-f"])
            .arg(&path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (seen, is_over) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let proxy = Self { child, address, socket, seen, is_over };
        let wanted = |node| if node == leader { "UP" } else { "MAINT" };
        until("the first checks are done", || {
            let now = show(&proxy.socket)?;
            (1..=3).all(|node| now[&format!("n{node}")] == wanted(node)).then_some(())
        });
        let (socket, seen, is_over) =
            (proxy.socket.clone(), Arc::clone(&proxy.seen), Arc::clone(&proxy.is_over));
        thread::spawn(move || {
            while !is_over.load(Ordering::SeqCst) {
                for (node, state) in show(&socket).unwrap_or_default() {
                    seen.lock().unwrap().entry(node).or_default().insert(state);
                }
                thread::sleep(Duration::from_millis(20));
            }
        });
        proxy
    }

    fn states(&self) -> BTreeMap<String, String> {
        show(&self.socket).unwrap()
    }

    /// Sends requests until it is stopped; a failed request is sent again.
    fn load(&self) -> Load {
        let answers: Arc<Mutex<Vec<String>>> = Arc::default();
        let failures: Arc<Mutex<Vec<Instant>>> = Arc::default();
        let is_over = Arc::new(AtomicBool::new(false));
        let (to, told) = (self.address, Arc::clone(&is_over));
        let (put, failed) = (Arc::clone(&answers), Arc::clone(&failures));
        let thread = thread::spawn(move || {
            while !told.load(Ordering::SeqCst) {
                let answer = raw(to, &head(to, "GET", "/", &[], ""));
                match answer {
                    Ok(answer) if answer.status == 200 => put.lock().unwrap().push(answer.body),
                    Ok(_) | Err(_) => failed.lock().unwrap().push(Instant::now()),
                }
                thread::sleep(Duration::from_millis(2));
            }
        });
        Load { answers, failures, is_over, thread }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client that sends requests all the time.
struct Load {
    answers: Arc<Mutex<Vec<String>>>,
    /// When a request failed.
    failures: Arc<Mutex<Vec<Instant>>>,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Load {
    fn has(&self, name: &str) -> bool {
        self.count(name) > 0
    }

    fn count(&self, name: &str) -> usize {
        self.answers.lock().unwrap().iter().filter(|answer| *answer == name).count()
    }

    /// Stops, and returns the names that answered, in order.
    fn stop(self) -> Vec<String> {
        self.is_over.store(true, Ordering::SeqCst);
        self.thread.join().unwrap();
        let mut order = self.answers.lock().unwrap().clone();
        order.dedup();
        order
    }
}

/// The states of the servers from HAProxy's stats socket. None while there is no such socket.
fn show(socket: &Path) -> Option<BTreeMap<String, String>> {
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream.write_all(b"show stat\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next()?.trim_start_matches("# ").split(',').collect();
    let column = |name| names.iter().position(|known| *known == name).unwrap();
    let (proxy, server, status) = (column("pxname"), column("svname"), column("status"));
    let rows = lines.map(|line| line.split(',').collect::<Vec<_>>());
    let rows = rows.filter(|row| row.get(proxy) == Some(&"leader") && row[server] != "BACKEND");
    Some(rows.map(|row| (row[server].to_owned(), row[status].to_owned())).collect())
}

fn replace(text: &str, old: &str, new: &str) -> String {
    assert_eq!(text.matches(old).count(), 1, "{old} in the file");
    text.replacen(old, new, 1)
}

fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}
