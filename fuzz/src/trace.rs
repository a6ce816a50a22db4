//! Trace files: whatever a file holds, it is read and judged, or refused with its line.
//!
//! A byte that no JSON has cuts the input into up to four files of one run.

use tanist_sim::monitors::Selection;
use tanist_sim::observe::recording::Recording;
use tanist_sim::recorded::{Recorded, TOLERANCE, TraceFile};

/// Checks bytes as the files of a run.
pub fn check(bytes: &[u8]) {
    if let Ok(recording) = Recording::read(bytes) {
        let mut written = Vec::new();
        recording.write(&mut written).expect("writing to memory");
        assert_eq!(Recording::read(&written[..]).ok(), Some(recording));
    }
    let mut files = Vec::new();
    for (number, text) in bytes.split(|byte| *byte == FILE_END).take(FILES_MAX).enumerate() {
        let Ok(file) = TraceFile::read(format!("n{number}.jsonl"), text) else { return };
        files.push(file);
    }
    let Ok(recorded) = Recorded::merge(files, TOLERANCE) else { return };
    let mut written = Vec::new();
    recorded.write(&mut written).expect("writing to memory");
    let again = TraceFile::read("merged.jsonl", &written[..]);
    assert!(again.is_ok(), "a merged trace is not read back: {:?}", again.err());
    let judged = recorded.judge(Selection::STANDARD);
    assert!(!judged.rulings.is_empty(), "every algorithm has assertions");
}

const FILE_END: u8 = 0xff;
const FILES_MAX: usize = 4;
