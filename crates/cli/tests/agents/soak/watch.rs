//! Every change that a node reports over its control socket, on a connection from before the
//! attack.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

/// The reports of a node so far.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    lines: Arc<Mutex<Vec<Value>>>,
}

/// Who leads, and the number of the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leadership {
    pub(crate) leader: String,
    pub(crate) number: String,
    pub(crate) members: usize,
}

impl Watch {
    pub(crate) fn start(socket: &Path) -> Self {
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.write_all(b"{\"ask\":\"watch\"}\n").unwrap();
        let watch = Self::default();
        let told = watch.clone();
        // It ends with the node.
        thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap();
                told.lines.lock().unwrap().push(line);
            }
        });
        watch
    }

    /// In which group the node is, if it is in one.
    pub(crate) fn leadership(&self) -> Option<Leadership> {
        let lines = self.lines.lock().unwrap();
        let line = lines.last().filter(|line| line["role"] != "suspended")?;
        Some(Leadership {
            leader: line["coordinator"].as_str()?.to_owned(),
            number: line["group_number"].as_str()?.to_owned(),
            members: line["members"].as_array()?.len(),
        })
    }

    /// How many changes there were.
    pub(crate) fn count(&self) -> usize {
        self.lines.lock().unwrap().len()
    }

    /// The text of the changes after so many.
    pub(crate) fn after(&self, count: usize) -> Vec<String> {
        let lines = self.lines.lock().unwrap();
        lines[count..].iter().map(|line| line["text"].to_string()).collect()
    }
}
