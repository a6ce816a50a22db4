//! Writes the seeds in `corpus/`: a few valid inputs for each target, so that fuzzing begins where
//! decoders say yes. Run it in the folder `fuzz`: `cargo run --example seeds`.

use std::fs;
use std::io;
use std::path::Path;

use tanist::store::record::{CounterRecord, IdentityRecord, LockMark, Record, StoreId};
use tanist::transport::frame::{self, Frame};
use tanist_core::detector::Heartbeat;
use tanist_core::election::{self, bully, bully_lecture, invitation};
use tanist_core::group::Counter;
use tanist_core::node::Message;
use tanist_core::{Definition, GroupNumber, NodeId, NodeSet, Report, recall, reorganization, wire};
use tanist_sim::scenario::library;
use tanist_sim::{Scenario, run};

fn main() -> io::Result<()> {
    for (name, message) in messages() {
        write("message", name, &wire::encode(&message))?;
    }
    let whole = Frame { group: "jobs", id: 7, payload: b"payload" }.encode(2);
    write("frame", "frame", &whole)?;
    for (name, record) in [
        ("last", frame::Record::Last(&whole)),
        ("more", frame::Record::More(&whole)),
        ("opening", frame::Record::Opening { after: None }),
    ] {
        write("frame", name, &record.encode())?;
    }
    for (name, record) in records() {
        write("store", name, &record.encode())?;
    }
    for name in TRACES {
        write("trace", name, &trace(name))?;
    }
    // Instructions, not formats: any bytes do, and libFuzzer finds better ones within seconds.
    for (name, byte) in [("zeros", 0), ("ones", 1), ("twos", 2), ("fives", 5)] {
        write("handshake", name, &[byte; 200])?;
        write("datagram", name, &[byte; 200])?;
        write("radio", name, &[byte; 200])?;
        // The first byte says that the rest are instructions.
        write("http", name, &[&[2][..], &[byte; 200]].concat())?;
    }
    for (name, bytes) in tanist_fuzz::hello::seeds() {
        write("hello", name, &bytes)?;
    }
    for (name, text) in KEY_FILES {
        let text = text.replace("FIRST", &"5a".repeat(32)).replace("SECOND", &"6b".repeat(32));
        write("keyfile", name, text.as_bytes())?;
    }
    for (name, text) in CONVERSATIONS {
        write("control", name, text.as_bytes())?;
    }
    for (name, text) in REQUESTS {
        write("http", &format!("{name}_remote"), &[&[0], text.as_bytes()].concat())?;
        write("http", &format!("{name}_local"), &[&[1], text.as_bytes()].concat())?;
    }
    Ok(())
}

fn messages() -> Vec<(&'static str, Message)> {
    let group = GroupNumber { counter: 7, node: NodeId(3) };
    let members: NodeSet = [1, 2, 300].into_iter().map(NodeId).collect();
    let bully = |message| Message::Election(election::Message::Bully(message));
    let lecture = |message| Message::Election(election::Message::BullyLecture(message));
    let invited = |message| Message::Election(election::Message::Invitation(message));
    let report = Report::from("half done");
    vec![
        ("are_you_up", bully(bully::Message::AreYouUp { nudge: true })),
        ("ayn_answer", bully(bully::Message::AynAnswer { is_normal: true, group: Some(group) })),
        ("ee_answer", bully(bully::Message::EeAnswer { group, ok: true, report: report.clone() })),
        (
            "coordinator",
            lecture(bully_lecture::Message::Coordinator { number: group, replaces: Some(group) }),
        ),
        (
            "accept",
            invited(invitation::Message::Accept { group, report, forwarded: members.clone() }),
        ),
        (
            "new_state",
            Message::Reorganization(reorganization::Message::NewState {
                group,
                members,
                definition: Definition::from("plan"),
            }),
        ),
        ("heartbeat", Message::Detector(Heartbeat)),
        (
            "recalled",
            Message::Recall(recall::Message::Recalled { question: 7, counter: Some(Counter(5)) }),
        ),
    ]
}

fn records() -> Vec<(&'static str, Record)> {
    let store = StoreId([7; 16]);
    let lock = LockMark { inode: 12, born: Some(1_700_000_000_000_000_000) };
    let group = "billing".to_owned();
    vec![
        ("identity", Record::Identity(IdentityRecord { store, node: 3, group, lock })),
        ("counter", Record::Counter(CounterRecord { store, sequence: 40, counter: 300 })),
        ("unused", Record::Counter(CounterRecord::unused(store))),
    ]
}

/// The beginning of a simulated run: long enough for every kind of entry, short enough to keep.
fn trace(name: &str) -> Vec<u8> {
    let text = library::find(name).expect("a shipped scenario");
    let scenario = Scenario::parse(text).expect("a shipped scenario is one");
    let mut recording = run(&scenario, scenario.seed).recording;
    recording.entries.truncate(60);
    let mut bytes = Vec::new();
    recording.write(&mut bytes).expect("writing to memory");
    bytes
}

fn write(target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = Path::new("corpus").join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}

const TRACES: &[&str] = &["bully-figure-10-8", "ce-i3-held", "ce-l1-held"];

/// Each kind of key, and a ring with two of them.
const KEY_FILES: &[(&str, &str)] = &[
    ("group", "tanist-key-1:FIRST\n"),
    ("ring", "# the key in use\ntanist-key-1:FIRST\n\ntanist-key-1:SECOND\n"),
    ("node", "tanist-node-secret-1:FIRST\n"),
    ("public", "tanist-node-1:FIRST"),
    ("name", "5a5a5a5a"),
];

/// Everything that is asked over the control socket. The byte 1 stands for many spaces.
const CONVERSATIONS: &[(&str, &str)] = &[
    (
        "look",
        "{\"ask\":\"status\"}\n{\"ask\":\"members\"}\n{\"ask\":\"metrics\"}\n{\"ask\":\"settings\"}\n\
         {\"ask\":\"history\"}\n{\"ask\":\"events\"}\n{\"ask\":\"work\"}\n\
         {\"ask\":\"keys\"}\n",
    ),
    (
        "act",
        "{\"ask\":\"act\",\"what\":{\"action\":\"pause\"}}\n\
         {\"ask\":\"act\",\"what\":{\"action\":\"resume\"}}\n\
         {\"ask\":\"act\",\"what\":{\"action\":\"step-down\",\"hold_ms\":1}}\n\
         {\"ask\":\"act\",\"what\":{\"action\":\"rejoin\"}}\n\
         {\"ask\":\"act\",\"what\":{\"action\":\"priority\",\"value\":7}}\n\
         {\"ask\":\"act\",\"what\":{\"action\":\"reload\"}}\n",
    ),
    ("experiment", "{\"ask\":\"cut\",\"peers\":[\"n2\"]}\n{\"ask\":\"heal\"}\n"),
    ("watch", "{\"ask\":\"watch\"}\n"),
    ("watch_on", "{\"ask\":\"watch\",\"after\":0}\n"),
    ("attach", "{\"ask\":\"attach\",\"grace_ms\":1}\n{\"news\":\"exited\",\"code\":3}\n"),
    ("long", "{\"ask\":\"status\"}\u{1}\u{1}\n{\"ask\":\"status\"}\n"),
];

/// Requests as they are on the wire. The byte 0 cuts the stream, 1 stands for a long name.
const REQUESTS: &[(&str, &str)] = &[
    ("get", "GET /v1/status?wait=1ms&index=1 HTTP/1.1\r\nhost: localhost\r\n\r\n"),
    (
        "pipelined",
        "GET /v1/members HTTP/1.1\r\nhost: 127.0.0.1:7480\r\n\r\n\
         HEAD /metrics HTTP/1.1\r\nhost: [::1]\r\nconnection: close\r\n\r\n",
    ),
    (
        "watch",
        "GET /v1/watch?after=1.1 HTTP/1.1\r\nhost: n1.example\r\naccept: application/x-ndjson\r\n\
         last-event-id: 1731000000000.7\r\norigin: https://pages.example\r\n\r\n",
    ),
    (
        "post",
        "POST /v1/priority HTTP/1.1\r\nhost: localhost\r\n\
         authorization: Bearer 0123456789abcdef0123456789abcdef\r\n\
         content-type: application/json\r\ncontent-length: 11\r\n\r\n{\"value\":7}",
    ),
    (
        "chunked",
        "POST /v1/pause HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\
         authorization: Bearer 0123456789abcdef0123456789abcdef\r\n\r\n2\r\n\0{}\r\n0\r\n\r\n",
    ),
    ("old", "GET /leader HTTP/1.0\r\n\r\n"),
    ("long", "GET /\u{1}\u{1} HTTP/1.1\r\nhost: localhost\r\n\u{2}\r\n"),
];
