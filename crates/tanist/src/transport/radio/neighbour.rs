//! What is known of one node that may be in reach: which incarnation sends, and what was received.
//!
//! ```text
//!   a frame of an unverified incarnation       the answer to our question, from that incarnation
//!   [unknown] ---- hold it, and ask once ----> [asked] ----> [known: frames are accepted, once]
//!       ^                                                        |
//!       +---------- the same for another incarnation ------------+
//! ```
//!
//! A packet names the incarnation that sent it, but so does a recording of an earlier incarnation.
//! So an incarnation is accepted only after it has answered a question that was made up after its
//! first frame: that answer cannot have been recorded before. Frames that arrive meanwhile are held
//! and accepted then. Within an incarnation a sliding window refuses what was received before.
//! Nothing has to survive a restart, on either side, and no clock has to be right. Pure: time and
//! random numbers are handed in.

use std::collections::VecDeque;
use std::time::Duration;

use tanist_core::Time;

use super::super::session::ReplayWindow;
use super::packet::Kind;
use super::seal::{IncarnationId, Seal};

/// What is known of one node.
#[derive(Debug, Default)]
pub(super) struct Neighbour {
    known: Option<Known>,
    question: Option<Question>,
    held: VecDeque<Held>,
    /// When an unverified incarnation was answered last.
    answered: Option<Time>,
    /// When something came last from the incarnation that is known.
    pub(super) heard: Option<Time>,
    pub(super) round_trip: Option<Duration>,
    /// Where that came from, as people are told.
    pub(super) place: Option<String>,
    pub(super) is_blocked: bool,
    pub(super) bytes_in: u64,
}

#[derive(Debug)]
struct Known {
    incarnation: IncarnationId,
    seal: Seal,
    window: ReplayWindow,
}

#[derive(Clone, Copy, Debug)]
struct Question {
    number: u64,
    made: Time,
    /// When this node was asked by name; not yet, if only a broadcast asked.
    asked: Option<Time>,
}

#[derive(Debug)]
struct Held {
    incarnation: IncarnationId,
    sequence: u64,
    said: Said,
}

/// What a packet said, opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) kind: Kind,
    pub(super) number: u64,
    pub(super) payload: Vec<u8>,
    /// Whether this node is meant, by name or by a broadcast.
    pub(super) is_for_us: bool,
}

/// What follows from a packet.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reaction {
    /// A incarnation of which nothing was known before; comes before its frames.
    pub(super) met: Option<IncarnationId>,
    /// Frames and heartbeats for the driver, in order.
    pub(super) take: Vec<Said>,
    /// Ask it this.
    pub(super) ask: Option<u64>,
    /// Answer it this.
    pub(super) answer: Option<u64>,
    pub(super) is_replayed: bool,
}

impl Neighbour {
    /// The key of the incarnation that is known, if it is this one.
    pub(super) fn seal(&self, incarnation: IncarnationId) -> Option<&Seal> {
        self.known
            .as_ref()
            .filter(|known| known.incarnation == incarnation)
            .map(|known| &known.seal)
    }

    /// Whether something came from it within this time.
    pub(super) fn is_near(&self, now: Time, suspect_after: Duration) -> bool {
        self.heard.is_some_and(|heard| now < heard + suspect_after)
    }

    /// All nodes in reach were asked this.
    pub(super) fn greet(&mut self, now: Time, number: u64) {
        self.question = Some(Question { number, made: now, asked: None });
    }

    /// The number of a question to it. `fresh` is taken if the last one is answered or too old.
    pub(super) fn ask(&mut self, now: Time, fresh: u64) -> u64 {
        let question = self.question.filter(|question| question.is_open(now));
        let question = question.unwrap_or(Question { number: fresh, made: now, asked: None });
        self.question = Some(Question { asked: Some(now), ..question });
        question.number
    }

    /// Takes what a packet said that opened with `seal`.
    pub(super) fn receive(
        &mut self,
        (incarnation, seal, sequence): (IncarnationId, Option<Seal>, u64),
        said: Said,
        now: Time,
        fresh: u64,
    ) -> Reaction {
        match &mut self.known {
            Some(known) if known.incarnation == incarnation => {
                if !known.window.take(sequence) {
                    return Reaction { is_replayed: true, ..Reaction::default() };
                }
                self.heard = Some(now);
                self.hear_known(said, now)
            }
            Some(_) | None => self.receive_unknown((incarnation, seal, sequence), said, now, fresh),
        }
    }

    fn hear_known(&mut self, said: Said, now: Time) -> Reaction {
        let mut reaction = Reaction::default();
        match said.kind {
            Kind::Ask if said.is_for_us => reaction.answer = Some(said.number),
            Kind::Answer if said.is_for_us && self.is_answered(said.number, now) => {
                self.settle(now);
            }
            Kind::Frame | Kind::Datagram if said.is_for_us => reaction.take.push(said),
            Kind::Frame | Kind::Datagram | Kind::Ask | Kind::Answer => {}
        }
        reaction
    }

    fn receive_unknown(
        &mut self,
        (incarnation, seal, sequence): (IncarnationId, Option<Seal>, u64),
        said: Said,
        now: Time,
        fresh: u64,
    ) -> Reaction {
        let mut reaction = Reaction::default();
        match said.kind {
            Kind::Answer if said.is_for_us && self.is_answered(said.number, now) => {
                if let Some(seal) = seal {
                    return self.meet((incarnation, seal, sequence), now);
                }
            }
            // A recording of such a question costs an answer, so there are not many.
            Kind::Ask if said.is_for_us => {
                if self.answered.is_none_or(|answered| now >= answered + ANSWERS_APART) {
                    self.answered = Some(now);
                    reaction.answer = Some(said.number);
                }
            }
            Kind::Frame | Kind::Datagram if said.is_for_us => {
                if self.held.len() == HELD_MAX {
                    self.held.pop_front();
                }
                self.held.push_back(Held { incarnation, sequence, said });
            }
            Kind::Frame | Kind::Datagram | Kind::Ask | Kind::Answer => {}
        }
        let asked = self.question.and_then(|question| question.asked);
        if asked.is_none_or(|asked| now >= asked + QUESTIONS_APART) {
            reaction.ask = Some(self.ask(now, fresh));
        }
        reaction
    }

    /// From here on this incarnation is the node, and no other.
    fn meet(
        &mut self,
        (incarnation, seal, sequence): (IncarnationId, Seal, u64),
        now: Time,
    ) -> Reaction {
        let mut window = ReplayWindow::default();
        let mut take = Vec::new();
        for held in self.held.drain(..).filter(|held| held.incarnation == incarnation) {
            if window.take(held.sequence) {
                take.push(held.said);
            }
        }
        window.take(sequence);
        self.known = Some(Known { incarnation, seal, window });
        self.heard = Some(now);
        self.settle(now);
        Reaction { met: Some(incarnation), take, ..Reaction::default() }
    }

    fn is_answered(&self, number: u64, now: Time) -> bool {
        self.question.is_some_and(|question| question.number == number && question.is_open(now))
    }

    fn settle(&mut self, now: Time) {
        let question = self.question.take();
        self.round_trip =
            question.map(|question| now.since(question.asked.unwrap_or(question.made)));
    }
}

impl Question {
    fn is_open(&self, now: Time) -> bool {
        now < self.made + QUESTION_AGE_MAX
    }
}

/// How long an answer may take; a recorded one is worth nothing after that.
const QUESTION_AGE_MAX: Duration = Duration::from_secs(10);
const QUESTIONS_APART: Duration = Duration::from_millis(100);
const ANSWERS_APART: Duration = Duration::from_millis(50);
/// Frames that wait for the answer to a question: what a node says in a few moments.
const HELD_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::GroupKey;
    use tanist_core::membership::NodeId;

    const fn at(millis: u64) -> Time {
        Time::from_micros(millis * 1000)
    }

    fn said(kind: Kind, number: u64) -> Said {
        Said { kind, number, payload: Vec::new(), is_for_us: true }
    }

    fn incarnation(name: u8) -> (IncarnationId, Option<Seal>) {
        let incarnation = IncarnationId([name; 16]);
        let key = GroupKey::parse(&format!("tanist-key-1:{}", "ab".repeat(32))).unwrap();
        (incarnation, Some(Seal::new(&key, "jobs", NodeId(1), incarnation)))
    }

    fn receive(
        of: &mut Neighbour,
        name: u8,
        sequence: u64,
        kind: Kind,
        number: u64,
        now: u64,
    ) -> Reaction {
        let (incarnation, seal) = incarnation(name);
        of.receive((incarnation, seal, sequence), said(kind, number), at(now), 1000 + now)
    }

    #[test]
    fn frames_are_held_until_the_question_is_answered_and_then_taken_in_order_once() {
        let mut of = Neighbour::default();
        let first = receive(&mut of, 1, 4, Kind::Frame, 40, 0);
        assert_eq!((first.take.len(), first.ask), (0, Some(1000)));
        assert_eq!(receive(&mut of, 1, 4, Kind::Frame, 40, 1).ask, None);
        assert_eq!(receive(&mut of, 1, 5, Kind::Frame, 50, 2).take, []);
        let met = receive(&mut of, 1, 6, Kind::Answer, 1000, 30);
        assert_eq!(met.met, Some(IncarnationId([1; 16])));
        assert_eq!(met.take, [said(Kind::Frame, 40), said(Kind::Frame, 50)]);
        assert_eq!(of.round_trip, Some(Duration::from_millis(30)));
        assert!(receive(&mut of, 1, 5, Kind::Frame, 50, 31).is_replayed);
        assert_eq!(receive(&mut of, 1, 7, Kind::Frame, 70, 32).take, [said(Kind::Frame, 70)]);
    }

    #[test]
    fn a_recording_of_an_earlier_life_is_never_taken() {
        let mut of = Neighbour::default();
        receive(&mut of, 1, 0, Kind::Frame, 1, 0);
        // A recorded answer to another question, and the right answer from another incarnation.
        assert_eq!(receive(&mut of, 1, 1, Kind::Answer, 7, 1).met, None);
        assert!(receive(&mut of, 2, 9, Kind::Answer, 1000, 2).met.is_some());
        // The earlier incarnation again: it is asked once more, and its recorded answers do not
        // fit.
        let again = receive(&mut of, 1, 2, Kind::Frame, 2, 500);
        assert_eq!((again.take.len(), again.ask), (0, Some(1500)));
        assert_eq!(receive(&mut of, 1, 3, Kind::Answer, 1000, 501).met, None);
        // Meanwhile the incarnation that is known goes on.
        assert_eq!(receive(&mut of, 2, 10, Kind::Frame, 3, 502).take.len(), 1);
    }

    #[test]
    fn a_question_is_repeated_as_it_was_until_it_is_old() {
        let mut of = Neighbour::default();
        assert_eq!(receive(&mut of, 1, 0, Kind::Frame, 1, 0).ask, Some(1000));
        assert_eq!(receive(&mut of, 1, 1, Kind::Frame, 2, 99).ask, None);
        assert_eq!(receive(&mut of, 1, 2, Kind::Frame, 3, 100).ask, Some(1000));
        assert_eq!(receive(&mut of, 1, 3, Kind::Frame, 4, 10_000).ask, Some(11_000));
        assert_eq!(receive(&mut of, 1, 4, Kind::Answer, 1000, 10_001).met, None);
        assert!(receive(&mut of, 1, 5, Kind::Answer, 11_000, 10_002).met.is_some());
    }

    #[test]
    fn somebody_who_comes_after_the_greeting_is_asked_at_once() {
        let mut of = Neighbour::default();
        of.greet(at(0), 77);
        assert_eq!(receive(&mut of, 1, 0, Kind::Ask, 5, 1).ask, Some(77));
        assert_eq!(receive(&mut of, 1, 1, Kind::Frame, 6, 2).ask, None);
        let met = receive(&mut of, 1, 2, Kind::Answer, 77, 3);
        assert_eq!((met.met, met.take.len()), (Some(IncarnationId([1; 16])), 1));
        assert_eq!(of.round_trip, Some(Duration::from_millis(2)));
    }

    #[test]
    fn a_stranger_is_answered_now_and_then_and_a_known_life_always() {
        let mut of = Neighbour::default();
        assert_eq!(receive(&mut of, 1, 0, Kind::Ask, 5, 0).answer, Some(5));
        assert_eq!(receive(&mut of, 1, 1, Kind::Ask, 6, 10).answer, None);
        assert_eq!(receive(&mut of, 1, 2, Kind::Ask, 7, 60).answer, Some(7));
        assert!(receive(&mut of, 1, 3, Kind::Answer, 1000, 61).met.is_some());
        assert_eq!(receive(&mut of, 1, 4, Kind::Ask, 8, 62).answer, Some(8));
        assert_eq!(receive(&mut of, 1, 5, Kind::Ask, 9, 62).answer, Some(9));
        assert!(receive(&mut of, 1, 5, Kind::Ask, 9, 63).is_replayed);
    }

    #[test]
    fn what_is_meant_for_others_is_a_sign_of_life_and_nothing_else() {
        let mut of = Neighbour::default();
        receive(&mut of, 1, 0, Kind::Ask, 5, 0);
        receive(&mut of, 1, 1, Kind::Answer, 1000, 1);
        let (incarnation, seal) = incarnation(1);
        let other = Said { is_for_us: false, ..said(Kind::Frame, 9) };
        let reaction = of.receive((incarnation, seal, 2), other, at(50), 0);
        assert_eq!(reaction, Reaction::default());
        assert!(of.is_near(at(149), Duration::from_millis(100)));
        assert!(!of.is_near(at(150), Duration::from_millis(100)));
    }
}
