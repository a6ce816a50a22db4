//! Health paths: leader, member, ready.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use super::agents::Agents;
use super::client::{get, request};
use crate::support::wait::until;

fn status(to: SocketAddr, path: &str) -> u16 {
    get(to, path).status
}

fn check(to: SocketAddr, question: &str) -> String {
    let mut stream = super::client::connect(to).unwrap();
    stream.write_all(question.as_bytes()).unwrap();
    let mut line = String::new();
    stream.read_to_string(&mut line).unwrap();
    line
}

#[test]
fn one_node_of_three_is_the_leader_and_the_others_are_members() {
    let mut agents = Agents::start(3, "algorithm = \"bully\"");
    let all = [1, 2, 3].map(|node| agents.fleet.http(node));
    let answers = |path: &str| {
        all.map(|to| super::client::raw(to, &super::client::head(to, "GET", path, &[], "")))
            .map(|answer| answer.map_or(0, |answer| answer.status))
    };
    until("n3 leads all", || (answers("/leader") == [503, 503, 200]).then_some(()));
    until("members", || (answers("/member") == [200, 200, 503]).then_some(()));
    assert_eq!(answers("/readyz?leader"), [200; 3]);
    assert_eq!(answers("/livez"), [200; 3]);
    assert_eq!(answers("/primary"), [501; 3]);
    assert!(get(all[0], "/primary").json()["error"]["hint"].as_str().unwrap().contains("/leader"));

    let lines = [1, 2, 3].map(|node| check(agents.fleet.agent_check(node), ""));
    assert_eq!(lines, ["up maint\n", "up maint\n", "up ready\n"]);
    let lines = [1, 2, 3].map(|node| check(agents.fleet.agent_check(node), "member\n"));
    assert_eq!(lines, ["up ready\n", "up ready\n", "up maint\n"]);
    assert_eq!(check(agents.fleet.agent_check(3), "leader\n"), "up ready\n");
    // An unknown role is no reason to send requests here.
    assert_eq!(check(agents.fleet.agent_check(3), "everything\n"), "up maint\n");
    assert_eq!(check(agents.fleet.agent_check(3), &"x".repeat(1000)), "up maint\n");

    agents.kill(3);
    until("n2 leads", || (status(all[1], "/leader") == 200).then_some(()));
    assert_eq!(check(agents.fleet.agent_check(2), ""), "up ready\n");
    agents.agent(2).signal("-TERM");
    assert_eq!(agents.ends(2), Some(0));
    assert!(!agents.fleet.file("n2.sock.http").exists());
    until("n1 leads", || (status(all[0], "/leader") == 200).then_some(()));
}

#[test]
fn head_and_options_are_answered_everywhere_and_have_no_body() {
    let agents = Agents::start(1, "");
    let to = agents.fleet.http(1);
    until("it serves", || std::net::TcpStream::connect(to).ok());
    until("it leads", || (status(to, "/leader") == 200).then_some(()));
    for path in ["/leader", "/readyz", "/metrics", "/v1/status", "/v1/watch", "/v1/openapi.json"] {
        // The client asserts that nothing follows the head.
        let answer = request(to, "HEAD", path, &[], "");
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        let answer = request(to, "OPTIONS", path, &[], "");
        assert_eq!(answer.status, 204, "{path}");
        assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"), "{path}");
        assert_eq!(answer.header("server"), None, "{path}");
    }
    assert_eq!(request(to, "OPTIONS", "/v1/pause", &[], "").header("allow"), Some("POST, OPTIONS"));
    assert_eq!(request(to, "HEAD", "/member", &[], "").status, 503);
}

#[test]
fn a_node_between_groups_is_alive_and_not_ready_and_says_why() {
    // The other node accepts connections and sends nothing, so the election takes as long as
    // possible.
    let timing = "algorithm = \"bully\"\n[timing]\nmessage_max = \"2s\"\nprocessing_max = \"1s\"\n\
                  suspect_after = \"9s\"\nheartbeat = \"1s\"\n";
    let mut agents = Agents::describe(2, timing);
    let _deaf = TcpListener::bind(agents.fleet.peer(2)).unwrap();
    agents.launch(1);
    let to = agents.fleet.http(1);
    until("it serves", || std::net::TcpStream::connect(to).ok());
    let ready = get(to, "/readyz");
    assert_eq!(ready.status, 503, "{ready:?}");
    assert!(ready.body.contains("[+]peer socket ok\n[+]store ok\n[-]group "), "{ready:?}");
    assert!(ready.body.contains("[-]leader unknown\nreadyz check failed\n"), "{ready:?}");
    assert_eq!(status(to, "/leader"), 503);
    assert_eq!(status(to, "/member"), 503);
    assert_eq!(status(to, "/livez"), 200);
    assert_eq!(check(agents.fleet.agent_check(1), ""), "up maint\n");
    until("it is ready alone", || (status(to, "/readyz") == 200).then_some(()));
}
