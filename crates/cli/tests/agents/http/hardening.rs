//! Requests that a node refuses, while it keeps leading.

use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use super::agents::{Agents, TOKEN};
use super::client::{Answer, connect, get, head, raw, read_head, request};
use crate::support::wait::{LIMIT, until};

fn leading(more: &str) -> (Agents, SocketAddr) {
    let agents = Agents::start(1, more);
    let to = agents.fleet.http(1);
    until("it leads", || raw(to, &head(to, "GET", "/leader", &[], "")).ok().filter(is_yes));
    (agents, to)
}

fn is_yes(answer: &Answer) -> bool {
    answer.status == 200
}

#[test]
fn every_refusal_says_what_is_wrong_and_the_node_goes_on_leading() {
    let (_agents, to) = leading("");
    let long = "x".repeat(20_000);
    let far = format!("/{long}");
    let huge = "y".repeat(70_000);
    let bearer = format!("Bearer {TOKEN}");
    let token = ("Authorization", bearer.as_str());
    let json = ("Content-Type", "application/json");
    type Case<'a> = (&'a str, &'a str, Vec<(&'a str, &'a str)>, &'a str, u16, &'a str);
    let cases: Vec<Case<'_>> = vec![
        ("GET", "/nothing", vec![], "", 404, "unknown_path"),
        ("GET", "/v1/../leader", vec![], "", 404, "unknown_path"),
        ("PUT", "/leader", vec![], "", 405, "wrong_method"),
        ("GET", "/v1/pause", vec![], "", 405, "wrong_method"),
        ("POST", "/v1/status", vec![token], "", 405, "wrong_method"),
        ("GET", "/leader", vec![("Host", "evil.example")], "", 421, "unknown_host"),
        ("GET", "http://evil.example/leader", vec![], "", 421, "unknown_host"),
        ("GET", "/leader", vec![("Origin", "http://evil.example")], "", 403, "foreign_origin"),
        ("GET", "/leader", vec![("Origin", "null")], "", 403, "foreign_origin"),
        ("OPTIONS", "/v1/pause", vec![("Origin", "http://a.b")], "", 403, "foreign_origin"),
        ("GET", "/leader", vec![("X-Long", &long)], "", 431, "headers_too_long"),
        ("GET", &far, vec![], "", 414, "path_too_long"),
        ("GET", "/leader?x=1", vec![], "", 400, "bad_query"),
        ("GET", "/v1/status?wait=1s", vec![], "", 400, "bad_query"),
        ("GET", "/v1/watch?after=yesterday", vec![], "", 400, "bad_query"),
        ("POST", "/v1/pause", vec![], "", 401, "no_token"),
        ("POST", "/v1/pause", vec![("Authorization", "Basic Og==")], "", 401, "no_token"),
        ("POST", "/v1/pause", vec![("Authorization", "Bearer no")], "", 401, "wrong_token"),
        ("POST", "/v1/pause", vec![token, ("Content-Type", "text/plain")], "{}", 415, "not_json"),
        ("POST", "/v1/pause", vec![token], "{}", 415, "not_json"),
        ("POST", "/v1/pause", vec![token, json], "{", 400, "bad_body"),
        ("POST", "/v1/pause", vec![token, json], "{\"force\":true}", 400, "bad_body"),
        ("POST", "/v1/priority", vec![token, json], "{}", 400, "bad_body"),
        ("POST", "/v1/pause", vec![token, json], &huge, 413, "body_too_long"),
        (
            "POST",
            "/v1/pause",
            vec![token, json],
            "{\"expect_group_number\":\"0.n9\"}",
            409,
            "group_changed",
        ),
    ];
    for (method, path, headers, body, status, code) in cases {
        let answer = request(to, method, path, &headers, body);
        let place = format!("{method} {} {headers:.60?}", &path[..path.len().min(40)]);
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{place}: {answer:?}");
        match status {
            401 => assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer")),
            405 => assert!(answer.header("allow").unwrap().contains("OPTIONS")),
            _ => {}
        }
    }
    assert_eq!(get(to, "/leader").status, 200);
    let number = get(to, "/v1/status").json()["group_number"].clone();
    assert_eq!(number, "1.n1", "nothing made it elect again");
}

#[test]
fn what_is_no_request_at_all_is_closed_and_harms_nobody() {
    let (_agents, to) = leading("");
    for bytes in ["\r\n\r\n", "GET\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"] {
        let mut stream = connect(to).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{bytes:?}: {answer}");
    }
    // Far over the limit: hyper's own answer, without a body.
    let over = format!("GET /leader HTTP/1.1\r\nHost: {to}\r\nX: {}\r\n\r\n", "z".repeat(500_000));
    if let Ok(answer) = raw(to, &over) {
        assert_eq!(answer.status, 431);
    }
    assert_eq!(get(to, "/leader").status, 200);
    // HTTP/1.0 without a Host, as load balancers ask.
    assert_eq!(raw(to, "GET /leader HTTP/1.0\r\n\r\n").unwrap().status, 200);
    assert_eq!(raw(to, "GET /leader HTTP/1.1\r\n\r\n").unwrap().code(), "no_host");
}

#[test]
fn a_request_that_never_ends_is_answered_and_closed() {
    let (_agents, to) = leading("");
    let stream = connect(to).unwrap();
    let mut trickle = stream.try_clone().unwrap();
    let sender = thread::spawn(move || {
        let start = b"GET /leader HTTP/1.1\r\nX-Slow: ";
        let drops = std::iter::repeat_n(&b"x"[..], 600);
        for piece in std::iter::once(&start[..]).chain(drops) {
            if trickle.write_all(piece).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
    });
    let mut lines = BufReader::new(stream);
    let (status, headers) = read_head(&mut lines).unwrap();
    let mut body = String::new();
    let _ = lines.read_to_string(&mut body);
    assert_eq!((status, Answer { status, headers, body }.code().as_str()), (408, "slow"));
    sender.join().unwrap();
    assert_eq!(get(to, "/leader").status, 200);
}

#[test]
fn a_client_that_never_reads_is_dropped() {
    let (_agents, to) = leading("");
    let page = head(to, "GET", "/v1/openapi.json", &[], "").replace("close", "keep-alive");
    let mut greedy = connect(to).unwrap();
    greedy.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    // More than all buffers between the two hold.
    for _ in 0..2000 {
        if greedy.write_all(page.as_bytes()).is_err() {
            break;
        }
    }
    let connections = || {
        let text = get(to, "/metrics").body;
        let line = text.lines().find(|line| line.starts_with("tanist_http_connections{"));
        line.unwrap().split(' ').next_back().unwrap().parse::<u32>().unwrap()
    };
    until("the connection is given up", || (connections() == 1).then_some(()));
    assert_eq!(get(to, "/leader").status, 200);
}

#[test]
fn names_and_origins_that_the_file_allows_may_ask() {
    let agents = Agents::describe(1, "");
    let more = "allowed_hosts = [\"n1.example\"]\nallowed_origins = [\"https://desk.example\"]\n";
    agents.configure(1, more);
    let to = agents.fleet.http(1);
    let _agent = agents.fleet.start("n1");
    until("it leads", || raw(to, &head(to, "GET", "/leader", &[], "")).ok().filter(is_yes));
    let asked = |headers: &[(&str, &str)]| request(to, "GET", "/leader", headers, "");
    assert_eq!(asked(&[("Host", "N1.example:80")]).status, 200);
    assert_eq!(asked(&[("Host", "localhost")]).status, 200);
    assert_eq!(asked(&[("Host", "[::1]:7480")]).status, 200);
    assert_eq!(asked(&[("Host", "n1.example.evil.example")]).status, 421);
    let page = asked(&[("Origin", "https://desk.example")]);
    assert_eq!(page.header("access-control-allow-origin"), Some("https://desk.example"));
    assert_eq!(asked(&[("Origin", &format!("http://{to}"))]).status, 200);
    assert_eq!(asked(&[("Origin", "https://desk.example.evil.example")]).status, 403);
    // This one has no token.
    let bearer = format!("Bearer {TOKEN}");
    let answer = request(to, "POST", "/v1/pause", &[("Authorization", &bearer)], "");
    assert_eq!((answer.status, answer.code().as_str()), (403, "actions_off"));
}

#[test]
fn the_unix_socket_needs_no_token_and_is_private() {
    let (agents, _) = leading("");
    let path = agents.fleet.file("n1.sock.http");
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let ask = "POST /v1/resume HTTP/1.1\r\nHost: tanist\r\nConnection: close\r\n\
               Content-Length: 0\r\n\r\n";
    stream.write_all(ask.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream);
    let (status, _) = read_head(&mut lines).unwrap();
    let mut body = String::new();
    lines.read_to_string(&mut body).unwrap();
    // The request reaches the action, which a node that is not paused may refuse.
    assert!([202, 412].contains(&status), "{status} {body}");
}

#[test]
fn an_agent_does_not_start_with_a_token_that_others_can_read_or_guess() {
    let agents = Agents::describe(1, "");
    let token = agents.fleet.file("token");
    let file = agents.configure(1, "token_file = \"token\"\n");
    let ends_with = |code: i32, words: &[&str]| {
        let output = agents.fleet.run(&["agent", "-c", &file]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(words.iter().all(|word| stderr.contains(word)), "{stderr}");
    };
    let refused = |words: &[&str]| ends_with(6, words);
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o644)).unwrap();
    refused(&["644", "chmod 600"]);
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(&token, "short\n").unwrap();
    refused(&["16", "/dev/urandom"]);
    std::fs::remove_file(&token).unwrap();
    refused(&["token_file"]);
    std::fs::write(&token, TOKEN).unwrap();
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    let _taken = std::net::TcpListener::bind(agents.fleet.http(1)).unwrap();
    ends_with(7, &["ss -ltnp", &agents.fleet.http(1).to_string()]);
}
