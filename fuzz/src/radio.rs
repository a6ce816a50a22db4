//! Radio packets that are genuine, repeated, late, changed, foreign or made up, against a model.
//!
//! The model: a process of a node is known from the moment when it answers a question that was
//! asked less than ten seconds before. Of a known process each frame among the last 128 is taken,
//! once. Frames of a process that is not known wait for its answer, a few of them, and are taken
//! then. Nothing else ever reaches the driver. Of two processes of one node the later one speaks.

use std::sync::Arc;
use std::time::Duration;

use arbitrary::{Result, Unstructured};
use tanist::transport::Incoming;
use tanist::transport::radio::RadioConfig;
use tanist::transport::radio::offline::{Heard, Incarnation, Receiver};
use tanist_core::{NodeId, Time};

use crate::mutation::mutated;
use crate::pair::{FOREIGN, KEYRING};

/// Checks bytes as a sequence of what happens in the air around one node.
pub fn check(bytes: &[u8]) {
    let mut source = Unstructured::new(bytes);
    let mut air = Air::new();
    // Too few bytes for all that was to be drawn from them: nothing is left to check.
    while !source.is_empty() && air.step(&mut source).is_ok() {}
}

/// Everything that was said so far, and the node that hears some of it.
struct Air {
    receiver: Receiver,
    now: Time,
    questions: u64,
    speakers: [Speaker; 2],
    said: Vec<Packet>,
}

/// A node that speaks, and what the receiver should know about it.
struct Speaker {
    node: NodeId,
    /// Its processes, one after the other; the last one runs.
    incarnations: Vec<Incarnation>,
    sequence: u64,
    known: Option<usize>,
    taken: Vec<u64>,
    question: Option<Question>,
}

#[derive(Clone, Copy)]
struct Question {
    number: u64,
    made: Time,
}

/// A genuine packet.
struct Packet {
    speaker: usize,
    incarnation: usize,
    sequence: u64,
    kind: u8,
    number: u64,
    is_for_us: bool,
    bytes: Vec<u8>,
    was_heard: bool,
    was_taken: bool,
}

impl Air {
    fn new() -> Self {
        let receiver = Receiver::new(RadioConfig {
            me: ME,
            group: Arc::from(GROUP),
            keyring: KEYRING.clone(),
            peers: vec![NodeId(2), NodeId(3)],
            suspect_after: Duration::from_secs(1),
        });
        let speakers = [Speaker::new(NodeId(2)), Speaker::new(NodeId(3))];
        Self { receiver, now: Time::from_micros(0), questions: 0, speakers, said: Vec::new() }
    }

    fn step(&mut self, source: &mut Unstructured<'_>) -> Result<()> {
        match source.int_in_range(0..=9)? {
            0 | 1 => {
                let (speaker, kind) = (source.choose_index(2)?, source.int_in_range(0..=4)?);
                // Numbers of answers are guesses here, and never right.
                self.say(source, speaker, kind, self.said.len() as u64)
            }
            2 => {
                let speaker = source.choose_index(2)?;
                let Some(question) = self.speakers[speaker].question else { return Ok(()) };
                self.say(source, speaker, ANSWER, question.number)
            }
            3..=5 if !self.said.is_empty() => {
                let packet = source.choose_index(self.said.len())?;
                self.deliver(packet);
                Ok(())
            }
            6 if !self.said.is_empty() => {
                let genuine = &source.choose(&self.said)?.bytes;
                let changed = mutated(source, genuine)?;
                if changed != *genuine {
                    self.deliver_false(&changed);
                }
                Ok(())
            }
            7 => self.deliver_foreign(source),
            8 => {
                self.now = self.now + Duration::from_millis(source.int_in_range(0..=12_000)?);
                Ok(())
            }
            _ => {
                let speaker = source.choose_index(2)?;
                self.speakers[speaker].restart();
                Ok(())
            }
        }
    }

    /// The running process of a node says something, which is not heard yet.
    fn say(
        &mut self,
        source: &mut Unstructured<'_>,
        speaker: usize,
        kind: u8,
        number: u64,
    ) -> Result<()> {
        let to = *source.choose(&[None, Some(ME), Some(ME), Some(NodeId(9))])?;
        let skipped = if source.ratio(1, 8)? { source.int_in_range(0..=200)? } else { 0 };
        let of = &mut self.speakers[speaker];
        let (incarnation, sequence) = (of.incarnations.len() - 1, of.sequence + skipped);
        of.sequence = sequence + 1;
        // By its payload a datagram is known again, which has no number.
        let payload = (self.said.len() as u64).to_be_bytes();
        let bytes = of.incarnations[incarnation].say(sequence, kind, to, (number, &payload));
        self.said.push(Packet {
            speaker,
            incarnation,
            sequence,
            kind,
            number,
            is_for_us: to.is_none_or(|to| to == ME),
            bytes: bytes.expect("short, and far from the last number"),
            was_heard: false,
            was_taken: false,
        });
        Ok(())
    }

    /// A genuine packet arrives, for the first time or again.
    fn deliver(&mut self, at: usize) {
        let fresh = FRESH | self.questions;
        self.questions += 1;
        self.said[at].was_heard = true;
        let heard = self.receiver.receive(&self.said[at].bytes, self.now, fresh);
        let packet = &self.said[at];
        if packet.kind > ANSWER {
            assert_eq!(heard, Heard::default(), "a kind that a later version knows");
            return;
        }
        let of = &mut self.speakers[packet.speaker];
        let was_known = of.known == Some(packet.incarnation);
        let is_new = was_known && of.take(packet.sequence);
        let is_answer = packet.kind == ANSWER
            && packet.is_for_us
            && of.question.is_some_and(|question| {
                question.number == packet.number && self.now < question.made + QUESTION_AGE_MAX
            });
        let may_answer = packet.kind == ASK && packet.is_for_us;
        assert!(heard.answer.is_none_or(|number| may_answer && number == packet.number));
        assert!(heard.ask.is_none() || !was_known, "a known process was asked");
        if was_known && !is_new {
            assert_eq!(heard, Heard::default(), "a repeated packet was not refused");
            return;
        }
        if is_answer {
            of.question = None;
        }
        if let Some(number) = heard.ask {
            let is_open = |question: &Question| self.now < question.made + QUESTION_AGE_MAX;
            match of.question.filter(is_open) {
                Some(open) => assert_eq!(number, open.number, "two questions at once"),
                None => assert_eq!(number, fresh, "an old question was asked again"),
            }
            let made = of.question.filter(is_open).map_or(self.now, |question| question.made);
            of.question = Some(Question { number, made });
        }
        let mut incoming = heard.incoming.into_iter();
        if !was_known {
            let (peer, incarnation) = (of.node, of.incarnations[packet.incarnation].number());
            let met = incoming.next();
            if !is_answer {
                assert_eq!(met, None, "a process was believed that has not answered");
                return;
            }
            assert_eq!(met, Some(Incoming::Met { peer, incarnation }));
            of.known = Some(packet.incarnation);
            of.taken.clear();
        }
        let (node, known, sequence) = (of.node, packet.incarnation, packet.sequence);
        let is_due = was_known && packet.is_for_us && [FRAME, DATAGRAM].contains(&packet.kind);
        let speaker = packet.speaker;
        let taken: Vec<usize> = incoming.map(|incoming| self.take(node, known, incoming)).collect();
        if was_known {
            assert_eq!(taken, if is_due { vec![at] } else { Vec::new() });
        } else {
            assert!(taken.len() <= HELD_MAX, "{} frames were held", taken.len());
            for held in &taken {
                self.speakers[speaker].take(self.said[*held].sequence);
            }
            self.speakers[speaker].take(sequence);
        }
    }

    /// What the driver gets was said to it by the process that is known, and comes once.
    fn take(&mut self, node: NodeId, known: usize, incoming: Incoming) -> usize {
        let (from, id, payload) = match incoming {
            Incoming::Frame { from, id, payload } => (from, Some(id), payload),
            Incoming::Datagram { from, payload } => (from, None, payload),
            other @ (Incoming::Gone { .. } | Incoming::Met { .. } | Incoming::Twin { .. }) => {
                panic!("{other:?} from the air")
            }
        };
        let at = u64::from_be_bytes(payload.try_into().expect("a payload as it was said"));
        let at = usize::try_from(at).expect("a payload as it was said");
        let packet = &mut self.said[at];
        assert_eq!((from, self.speakers[packet.speaker].node), (node, node));
        assert_eq!(packet.incarnation, known, "a frame of another process was taken");
        assert_eq!(packet.kind, if id.is_some() { FRAME } else { DATAGRAM });
        assert!(id.is_none_or(|id| id == packet.number));
        assert!(packet.is_for_us, "a frame for another node was taken");
        assert!(packet.was_heard, "a frame was taken before it was heard");
        assert!(!packet.was_taken, "a frame was taken twice");
        packet.was_taken = true;
        at
    }

    /// Bytes that no node of the group has said: nothing follows from them.
    fn deliver_false(&mut self, bytes: &[u8]) {
        let heard = self.receiver.receive(bytes, self.now, FRESH | self.questions);
        assert_eq!(heard, Heard::default(), "{bytes:02x?} was believed");
    }

    /// Another group, another key, another node, bytes from nowhere; and a sealed body that may be
    /// anything, which another receiver hears.
    fn deliver_foreign(&mut self, source: &mut Unstructured<'_>) -> Result<()> {
        let (kind, number) = (source.int_in_range(0..=3)?, source.arbitrary()?);
        let (key, group, node) = match source.int_in_range(0..=5)? {
            0 => (&*FOREIGN, GROUP, NodeId(2)),
            1 => (KEYRING.active(), "mail", NodeId(2)),
            2 => (KEYRING.active(), GROUP, NodeId(4)),
            3 => (KEYRING.active(), GROUP, ME),
            4 => {
                let length = source.len().min(64);
                let bytes = source.bytes(length)?;
                self.deliver_false(bytes);
                return Ok(());
            }
            _ => return sealed_nonsense(source),
        };
        let process = Incarnation::new(key, group, node, [9; 16]);
        let bytes = process.say(source.arbitrary::<u32>()?.into(), kind, None, (number, b"x"));
        self.deliver_false(&bytes.expect("short, and far from the last number"));
        Ok(())
    }
}

impl Speaker {
    fn new(node: NodeId) -> Self {
        let (known, question) = (None, None);
        let mut speaker = Self {
            node,
            incarnations: Vec::new(),
            sequence: 0,
            known,
            taken: Vec::new(),
            question,
        };
        speaker.restart();
        speaker
    }

    /// Another process of the node begins to speak, with a name of its own.
    fn restart(&mut self) {
        let count = self.incarnations.len();
        let name = [u8::try_from(count % 256).unwrap_or_default(), (count / 256) as u8];
        let mut life = [self.node.0 as u8; 16];
        life[..2].copy_from_slice(&name);
        let key = &KEYRING.keys()[count % KEYRING.keys().len()];
        self.incarnations.push(Incarnation::new(key, GROUP, self.node, life));
        self.sequence = 0;
    }

    /// Whether the process that is known has a packet of this number left.
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

/// A key holder that says something else than a packet's body, known before or not.
fn sealed_nonsense(source: &mut Unstructured<'_>) -> Result<()> {
    let mut air = Air::new();
    let process = Incarnation::new(KEYRING.active(), GROUP, NodeId(2), [7; 16]);
    let hello = process.say(0, ASK, None, (1, b"")).expect("short");
    let asked =
        air.receiver.receive(&hello, air.now, FRESH).ask.expect("an unknown process is asked");
    if source.arbitrary()? {
        let answer = process.say(1, ANSWER, None, (asked, b"")).expect("short");
        assert!(!air.receiver.receive(&answer, air.now, FRESH | 1).incoming.is_empty());
    }
    let (sequence, length) = (source.int_in_range(2..=u64::MAX - 1)?, source.len().min(1100));
    let body = source.bytes(length)?;
    let packet = process.say_nonsense(sequence, body).expect("short");
    let heard = air.receiver.receive(&packet, air.now, FRESH | 2);
    assert!(heard.incoming.len() <= 1);
    Ok(())
}

const ME: NodeId = NodeId(1);
const GROUP: &str = "jobs";
const FRAME: u8 = 0;
const DATAGRAM: u8 = 1;
const ASK: u8 = 2;
const ANSWER: u8 = 3;
/// Numbers of questions have the top bit, so that no guess is right by chance.
const FRESH: u64 = 1 << 63;
const QUESTION_AGE_MAX: Duration = Duration::from_secs(10);
/// Frames that wait for the answer to a question.
const HELD_MAX: usize = 16;
