//! Datagrams that come late, twice, damaged or from nowhere, against a plain model.
//!
//! The model: a genuine datagram opens if it was not taken before and is among the last 128 up to
//! the highest that was taken. Nothing else opens, ever, and nothing else moves the window.

use arbitrary::{Result, Unstructured};
use tanist::transport::datagram::{self, PAYLOAD_MAX};
use tanist::transport::session::{OpenError, ReplayWindow, Session};
use tanist::transport::version::Versions;

use crate::mutation::mutated;
use crate::pair;

/// Checks bytes as a sequence of what happens to datagrams of one session.
pub fn check(bytes: &[u8]) {
    let mut source = Unstructured::new(bytes);
    // Too few bytes for all that was to be drawn from them: nothing is left to check.
    let _ = match source.arbitrary::<bool>() {
        Ok(true) => session(&mut source),
        Ok(false) => window(&mut source),
        Err(_) => return,
    };
}

fn session(source: &mut Unstructured<'_>) -> Result<()> {
    let version = source.int_in_range(Versions::KNOWN.min..=Versions::KNOWN.max)?;
    let (ours, theirs) = pair::sessions(version);
    let mut sent: Vec<(u64, Vec<u8>, Vec<u8>)> = Vec::new();
    let (mut next, mut model) = (0, Model::default());
    while !source.is_empty() {
        match source.int_in_range(0..=5)? {
            0 => {
                let length = source.int_in_range(0..=40)?;
                let payload = source.bytes(length.min(source.len()))?.to_vec();
                sent.push((next, payload.clone(), seal(&ours, &payload)));
                next += 1;
            }
            // Lost on the way; the window may have to move far.
            1 => {
                for _ in 0..source.int_in_range(1..=60)? {
                    seal(&ours, b"lost");
                    next += 1;
                }
            }
            2 | 3 if !sent.is_empty() => {
                let (sequence, payload, bytes) = source.choose(&sent)?;
                let expected =
                    if model.take(*sequence) { Ok(payload.clone()) } else { Err(REPLAYED) };
                assert_eq!(open(&theirs, bytes), expected, "datagram {sequence}");
                // What we sealed ourselves is not the other side's.
                assert_eq!(open(&ours, bytes), Err(FORGED));
            }
            4 if !sent.is_empty() => {
                let (sequence, _, bytes) = source.choose(&sent)?;
                let changed = mutated(source, bytes)?;
                if changed != *bytes {
                    let opened = open(&theirs, &changed);
                    assert!(is_refusal(&opened), "{sequence}, changed, gave {opened:?}");
                    assert_ne!(opened, Err(REPLAYED), "{sequence}, changed, is authentic");
                }
            }
            _ => {
                let length = source.int_in_range(0..=64)?;
                let opened = open(&theirs, source.bytes(length.min(source.len()))?);
                assert!(is_refusal(&opened), "bytes from nowhere gave {opened:?}");
            }
        }
    }
    Ok(())
}

/// The window alone, with numbers that no test would live to seal.
fn window(source: &mut Unstructured<'_>) -> Result<()> {
    let (mut window, mut model, mut last) = (ReplayWindow::default(), Model::default(), 0_u64);
    while !source.is_empty() {
        let sequence = match source.int_in_range(0..=2)? {
            0 => source.int_in_range(0..=SEQUENCE_MAX)?,
            1 => last.saturating_sub(source.int_in_range(0..=260)?),
            _ => last.saturating_add(source.int_in_range(0..=260)?).min(SEQUENCE_MAX),
        };
        last = sequence;
        assert_eq!(window.take(sequence), model.take(sequence), "{sequence}");
    }
    Ok(())
}

/// Everything that was taken, and the rule in one line.
#[derive(Default)]
struct Model {
    taken: Vec<u64>,
}

impl Model {
    fn take(&mut self, sequence: u64) -> bool {
        let highest = self.taken.iter().max().copied();
        let is_old = highest.is_some_and(|highest| sequence + 128 <= highest);
        let is_new = !is_old && !self.taken.contains(&sequence);
        if is_new {
            self.taken.push(sequence);
        }
        is_new
    }
}

fn seal(session: &Session, payload: &[u8]) -> Vec<u8> {
    assert!(payload.len() <= PAYLOAD_MAX);
    datagram::encode(session, payload).expect("short, and far from the last number")
}

/// What the receiving side does, without its socket: none where there is no such session.
fn open(session: &Session, bytes: &[u8]) -> std::result::Result<Vec<u8>, Option<OpenError>> {
    let datagram = datagram::decode(bytes).map_err(|_| None)?;
    if datagram.session != session.id() || datagram.version != session.version() {
        return Err(None);
    }
    session.open_datagram(datagram.sequence, datagram.ciphertext).map_err(Some)
}

fn is_refusal(opened: &std::result::Result<Vec<u8>, Option<OpenError>>) -> bool {
    opened.is_err()
}

const REPLAYED: Option<OpenError> = Some(OpenError::Replayed);
const FORGED: Option<OpenError> = Some(OpenError::Seal);
/// A session refuses higher ones before its window sees them.
const SEQUENCE_MAX: u64 = (1 << 63) - 2;
