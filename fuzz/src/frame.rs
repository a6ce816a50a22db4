//! Frames, the records that carry them, and the stream that carries the records.

use arbitrary::{Result, Unstructured};
use tanist::transport::end_of_record;
use tanist::transport::frame::{Assembly, Frame, Record, split};
use tanist::transport::version::Versions;

/// Checks bytes as a frame, as a record and as instructions for a stream.
pub fn check(bytes: &[u8]) {
    decode_frame(bytes);
    decode_record(bytes);
    // Too few bytes for all that was to be drawn from them: nothing is left to check.
    let _ = carry(&mut Unstructured::new(bytes));
    let _ = assemble(&mut Unstructured::new(bytes));
}

fn decode_frame(bytes: &[u8]) {
    for version in Versions::KNOWN.min..=Versions::KNOWN.max {
        if let Ok(frame) = Frame::decode(bytes, GROUP, version) {
            assert_eq!(bytes.first(), Some(&version), "a frame of another version was taken");
            assert_eq!(frame.group, GROUP);
            assert_eq!(Frame::decode(&frame.encode(version), GROUP, version), Ok(frame));
        }
    }
}

fn decode_record(bytes: &[u8]) {
    if let Ok(record) = Record::decode(bytes) {
        assert_eq!(record.encode(), bytes, "{record:?} has two forms");
    }
}

/// Frames written as a link writes them arrive whole and in order, wherever the stream is cut.
fn carry(source: &mut Unstructured<'_>) -> Result<()> {
    let version = source.int_in_range(Versions::KNOWN.min..=Versions::KNOWN.max)?;
    let mut payloads = Vec::new();
    let mut stream = Vec::new();
    for id in 0..source.int_in_range(1..=4)? {
        let payload = vec![source.arbitrary()?; source.int_in_range(0..=PAYLOAD_MAX)?];
        let frame = Frame { group: GROUP, id, payload: &payload };
        for record in split(&frame.encode(version)) {
            write(&record.encode(), &mut stream);
        }
        payloads.push(payload);
    }
    let mut assembly = Assembly::new(PAYLOAD_MAX);
    let (mut buffer, mut unread, mut arrived) = (Vec::new(), &stream[..], Vec::new());
    while !unread.is_empty() {
        // A source that has run dry reads one byte at a time; that is a stream, too, but slow.
        let at_most = source.int_in_range(1..=8192)?.max(if source.is_empty() { 8192 } else { 1 });
        let (now, later) = unread.split_at(at_most.min(unread.len()));
        buffer.extend_from_slice(now);
        unread = later;
        while let Some(end) = end_of_record(&buffer) {
            match Record::decode(&buffer[2..end]).expect("we wrote it") {
                Record::More(piece) => assembly.more(piece).expect("within the limit"),
                Record::Last(piece) => {
                    let bytes = assembly.last(piece).expect("within the limit");
                    let frame = Frame::decode(&bytes, GROUP, version).expect("we wrote it");
                    assert_eq!(frame.id, arrived.len() as u64);
                    arrived.push(frame.payload.to_vec());
                }
                Record::Opening { .. } | Record::Datagrams(_) => panic!("only frames were written"),
            }
            buffer.drain(..end);
        }
    }
    assert_eq!(buffer, b"", "half a record is left");
    assert!(arrived == payloads, "frames were lost, mixed up or changed");
    Ok(())
}

/// Records of any content: memory stays within the limit, and what comes out is what went in.
fn assemble(source: &mut Unstructured<'_>) -> Result<()> {
    let limit = source.int_in_range(0..=4096_usize)?;
    let mut assembly = Assembly::new(limit);
    let mut expected: Vec<u8> = Vec::new();
    while !source.is_empty() {
        let length = source.int_in_range(0..=600_usize)?.min(source.len());
        let bytes = source.bytes(length)?;
        let (piece, is_last) = match Record::decode(bytes) {
            Ok(Record::More(piece)) => (piece, false),
            Ok(Record::Last(piece)) => (piece, true),
            Ok(Record::Opening { .. } | Record::Datagrams(_)) | Err(_) => continue,
        };
        let fits = expected.len() + piece.len() <= limit + OVERHEAD_MAX;
        expected.extend_from_slice(piece);
        if is_last {
            let whole = assembly.last(piece);
            assert_eq!(whole.is_ok(), fits, "{} bytes with {limit} allowed", expected.len());
            let Ok(whole) = whole else { return Ok(()) };
            assert_eq!(whole, expected);
            expected.clear();
        } else {
            let taken = assembly.more(piece);
            assert_eq!(taken.is_ok(), fits, "{} bytes with {limit} allowed", expected.len());
            // A link whose frame is too long is closed.
            if taken.is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn write(record: &[u8], stream: &mut Vec<u8>) {
    let length = u16::try_from(record.len()).expect("records are short");
    stream.extend(length.to_be_bytes());
    stream.extend(record);
}

const GROUP: &str = "jobs";
/// Three records long, and no more, for speed.
const PAYLOAD_MAX: usize = 40_000;
/// What an assembly allows besides the payload.
const OVERHEAD_MAX: usize = 1024;
