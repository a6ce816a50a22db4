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
use tanist_sim::{Scenario, library, run};

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
