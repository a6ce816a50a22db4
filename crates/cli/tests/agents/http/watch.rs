//! Watching: no event is missed or repeated, whatever other watchers do.

use std::io::{BufReader, Write};
use std::net::SocketAddr;
use std::thread;

use serde_json::Value;

use super::agents::Agents;
use super::client::{Event, Watch, connect, get, head, raw, read_head, request};
use crate::support::dev::Dev;
use crate::support::wait::until;

/// Where the nodes of a local group serve HTTP, in order.
fn addresses(dev: &mut Dev) -> Vec<SocketAddr> {
    let line = dev.tells("http://");
    line.split("http://")
        .skip(1)
        .map(|part| part.split(' ').next().unwrap().parse().unwrap())
        .collect()
}

/// Kills and restarts the leader so often; every other node changes its role each time.
fn shake(dev: &mut Dev, times: usize) {
    for _ in 0..times {
        dev.act(&["kill", "n3"]);
        assert_eq!(dev.agree("2 of 3 nodes"), "n2");
        dev.act(&["restart", "n3"]);
        assert_eq!(dev.agree("all 3 nodes"), "n3");
    }
}

fn index(to: SocketAddr) -> u64 {
    get(to, "/v1/status").json()["index"].as_u64().unwrap()
}

#[test]
fn a_watcher_that_is_dropped_again_and_again_misses_nothing_and_sees_nothing_twice() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    let to = addresses(&mut dev)[0];
    dev.agree("all 3 nodes");
    let mut watch = Watch::start(to, None);
    let first = watch.next().unwrap();
    assert_eq!((first.name.as_str(), &first.data["reset"]), ("snapshot", &Value::Bool(false)));
    assert_eq!(first.data["status"]["index"], first.index());
    drop(watch);
    let begin = first.index();

    let reader = thread::spawn(move || {
        let (mut last, mut seen, mut visits) = (first.id, Vec::<Event>::new(), 0);
        // The watched node never crashes, so a stream ends only when this side drops it.
        while seen.len() < 16 {
            let mut watch = Watch::start(to, Some(&last));
            for _ in 0..=visits % 2 {
                let event = watch.next().unwrap();
                last.clone_from(&event.id);
                seen.push(event);
            }
            visits += 1;
        }
        (seen, visits)
    });
    // Each round makes at least four changes: into an election and out of it, twice.
    shake(&mut dev, 4);
    let (seen, visits) = reader.join().unwrap();
    assert!(visits >= 8, "{visits}");
    let history = get(to, "/v1/history").json();
    let changes = history["changes"].as_array().unwrap();
    let start = changes.iter().position(|change| change["index"] == begin + 1).unwrap();
    for (event, change) in seen.iter().zip(&changes[start..]) {
        assert_eq!((event.name.as_str(), &event.data), ("change", change));
        assert_eq!(event.id, format!("{}.{}", history["incarnation"], change["index"]));
    }
    let indexes: Vec<u64> = seen.iter().map(Event::index).collect();
    let wanted: Vec<u64> = (begin + 1..).take(seen.len()).collect();
    assert_eq!(indexes, wanted, "no gap and no repeat");
}

#[test]
fn an_id_that_means_nothing_here_gets_the_whole_state_marked_as_a_reset() {
    let agents = Agents::start(1, "");
    let to = agents.fleet.http(1);
    until("it leads", || {
        raw(to, &head(to, "GET", "/leader", &[], "")).ok().filter(|a| a.status == 200)
    });
    let status = get(to, "/v1/status").json();
    let incarnation = status["incarnation"].as_u64().unwrap();
    let resets =
        [format!("{}.0", incarnation - 1), format!("{incarnation}.999"), "nonsense".to_owned()];
    for id in &resets {
        let event = Watch::start(to, Some(id)).next().unwrap();
        assert_eq!((event.name.as_str(), &event.data["reset"]), ("snapshot", &Value::Bool(true)));
        assert_eq!(event.data["status"]["node"], "n1");
    }
    // Every change of this incarnation is remembered.
    let mut watch = Watch::start(to, Some(&format!("{incarnation}.0")));
    let event = watch.next().unwrap();
    assert_eq!((event.name.as_str(), event.index()), ("change", 1));
    // The same as lines, and with the query.
    let ask = head(to, "GET", &format!("/v1/watch?after={incarnation}.0"), &[LINES], "");
    let mut stream = connect(to).unwrap();
    stream.write_all(ask.as_bytes()).unwrap();
    let (status, headers) = read_head(&mut std::io::BufReader::new(stream)).unwrap();
    assert_eq!(status, 200);
    assert!(headers.contains(&("content-type".to_owned(), LINES.1.to_owned())), "{headers:?}");
}

const LINES: (&str, &str) = ("Accept", "application/x-ndjson");

#[test]
fn a_long_poll_ends_with_the_change_and_not_before() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    let to = addresses(&mut dev)[0];
    dev.agree("all 3 nodes");
    let known = index(to);
    let path = format!("/v1/status?wait=60s&index={known}");
    let poll = thread::spawn(move || get(to, &path));
    // An old index is answered at once, so this answer comes first.
    let old = format!("/v1/status?wait=60s&index={}", known - 1);
    assert_eq!(get(to, &old).header("tanist-index"), Some(known.to_string().as_str()));
    assert!(!poll.is_finished());
    shake(&mut dev, 1);
    let answer = poll.join().unwrap();
    assert!(answer.json()["index"].as_u64().unwrap() > known, "{answer:?}");
}

#[test]
fn two_hundred_watchers_get_every_event_although_one_never_reads() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    let to = addresses(&mut dev)[0];
    dev.agree("all 3 nodes");
    let process = process_of(&dev, "n1.toml");
    let before = resident(process);
    let mut deaf = connect(to).unwrap();
    deaf.write_all(head(to, "GET", "/v1/watch", &[], "").as_bytes()).unwrap();
    let mut watchers: Vec<Watch> = (0..199).map(|_| Watch::start(to, None)).collect();
    let starts: Vec<Event> = watchers.iter_mut().map(|watch| watch.next().unwrap()).collect();
    let first = starts[0].index();
    assert!(starts.iter().all(|event| event.name == "snapshot" && event.index() == first));
    shake(&mut dev, 3);
    let last = index(to);
    assert!(last >= first + 12, "{first} {last}");
    let wanted: Vec<u64> = (first + 1..=last).collect();
    for watch in &mut watchers {
        let seen: Vec<u64> = wanted.iter().map(|_| watch.next().unwrap().index()).collect();
        assert_eq!(seen, wanted);
    }
    let after = resident(process);
    assert!(after < before * 3 + 64 * 1024, "{before} kB before, {after} kB with 200 watchers");
    drop(deaf);
}

#[test]
fn an_address_with_too_many_watchers_is_told_to_come_later() {
    let agents = Agents::start(1, "");
    let to = agents.fleet.http(1);
    until("it leads", || {
        raw(to, &head(to, "GET", "/leader", &[], "")).ok().filter(|a| a.status == 200)
    });
    // As many connections as one address may have; attacks/http.rs comes from several.
    let watchers: Vec<Watch> = (0..250).map(|_| Watch::start(to, None)).collect();
    let ask = head(to, "GET", "/v1/watch", &[], "");
    let mut more = Vec::new();
    until("all places are taken", || {
        let mut stream = connect(to).unwrap();
        stream.write_all(ask.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream);
        let (status, _) = read_head(&mut lines).unwrap();
        more.push(lines);
        (status == 503).then_some(())
    });
    let refused = request(to, "GET", "/v1/watch", &[], "");
    assert_eq!((refused.status, refused.code().as_str()), (503, "too_many_connections"));
    assert!(refused.header("retry-after").is_some());
    // Health is still answered.
    assert_eq!(get(to, "/leader").status, 200);
    drop((watchers, more));
    until("there is room again", || {
        let text = get(to, "/metrics").body;
        text.contains("tanist_http_watchers{group=\"billing\"} 0\n").then_some(())
    });
    Watch::start(to, None).next().unwrap();
}

/// The agent whose file has this name.
fn process_of(dev: &Dev, file: &str) -> u32 {
    let is_it = |process: &u32| {
        let command = std::fs::read_to_string(format!("/proc/{process}/cmdline"));
        command.is_ok_and(|command| command.contains(file))
    };
    dev.agents().into_iter().find(is_it).unwrap()
}

/// How much memory a process has, in kilobytes.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
