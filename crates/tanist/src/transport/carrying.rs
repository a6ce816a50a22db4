//! Whether the datagrams between this node and a peer arrive, and when the link carries them.
//!
//! ```text
//! at the receiver:
//!              three sent, none came           two came over the link only
//!  [arriving] -----------------------> [asked] ---------------------------> [missing]
//!      ^       or some over the link      |                                     |
//!      +----------------------------------+-------------------------------------+
//!                         three datagrams came, few missing between
//! ```
//!
//! Heartbeat peers send each other as many datagrams, so a node that sends some and gets none has
//! reason to ask. The receiver decides and tells the sender over the link: *asked* means send each
//! datagram over the link as well, *missing* that only those over the link arrive, *arriving* that
//! the link is not needed. While all is well nothing is said. A sender whose datagrams are missing
//! still sends every fourth one, so the receiver notices when they pass again.
//!
//! What the link carries is what the driver hands over as a datagram, when it hands it over: a node
//! that hangs sends neither. Pure: no socket. Assumes that a report arrives, or that the link
//! breaks; after that the receiver says again what it wants. A peer of an older release does not
//! know these reports and drops them.

use std::time::Duration;

use serde::Serialize;
use tanist_core::Time;

/// What is known of the datagrams of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DatagramPath {
    /// They arrive, as far as is known.
    Arriving,
    /// They do not arrive, although the link is up; the link carries them.
    Missing,
}

/// What the receiver of datagrams tells their sender over the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Report {
    /// They arrive: the link is not needed.
    #[default]
    Arriving,
    /// None came for a while: send each over the link as well.
    Asked,
    /// They do not arrive: send them over the link, and a few as datagrams to try again.
    Missing,
}

impl Report {
    /// Its byte on the wire.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Arriving => 0,
            Self::Asked => 1,
            Self::Missing => 2,
        }
    }

    /// The report with this byte.
    #[must_use]
    pub const fn of(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Arriving),
            1 => Some(Self::Asked),
            2 => Some(Self::Missing),
            _ => None,
        }
    }
}

/// The datagrams of both directions between this node and one peer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Carrying {
    /// What this node has told the peer about the peer's datagrams.
    inbound: Report,
    /// Datagrams that this node has sent since one came.
    unanswered: u32,
    /// Datagrams that came over the link only, since one came as a datagram.
    carried: u32,
    /// Datagrams that came over the link although the peer was told that it is not needed.
    unasked: u32,
    /// Datagrams that came, with few missing between.
    in_row: u32,
    /// When something came last, as a datagram or over the link in its place.
    came: Option<Time>,
    /// What the peer has told about this node's datagrams.
    outbound: Report,
    /// Datagrams that this node handed to the link since it sent one.
    untried: u32,
    /// When this node sent something last, either way.
    sent: Option<Time>,
}

/// A report that differs from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) from: Report,
    pub(super) to: Report,
}

/// How one datagram is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sending {
    pub(super) by_datagram: bool,
    pub(super) by_link: bool,
    /// What the peer is to be told about its own datagrams.
    pub(super) change: Option<Change>,
}

impl Carrying {
    /// This node is about to send one.
    pub(super) fn send(&mut self, now: Time) -> Sending {
        self.sent = Some(now);
        self.unanswered = self.unanswered.saturating_add(1);
        let change = (self.inbound == Report::Arriving && self.unanswered >= ASK_AFTER)
            .then(|| self.tell(Report::Asked));
        let by_datagram = match self.outbound {
            Report::Arriving | Report::Asked => true,
            Report::Missing => self.untried + 1 >= TRY_EVERY,
        };
        self.untried = if by_datagram { 0 } else { self.untried + 1 };
        Sending { by_datagram, by_link: self.outbound != Report::Arriving, change }
    }

    /// One came as a datagram.
    pub(super) fn came(&mut self, now: Time) -> Option<Change> {
        self.came = Some(now);
        self.unanswered = 0;
        self.carried = 0;
        if self.inbound == Report::Arriving {
            return None;
        }
        self.in_row += 1;
        (self.in_row >= ENOUGH).then(|| self.tell(Report::Arriving))
    }

    /// One came over the link.
    pub(super) fn came_by_link(&mut self, now: Time) -> Option<Change> {
        self.came = Some(now);
        self.carried = self.carried.saturating_add(1);
        if self.carried > 2 * TRY_EVERY {
            self.in_row = 0;
        }
        match self.inbound {
            Report::Arriving => {
                self.unasked += 1;
                // An earlier process of this node has asked for it, or the word to end it was lost.
                (self.unasked > STRAY_MAX).then(|| self.tell(Report::Asked))
            }
            Report::Asked if self.carried >= MISSING_AFTER => Some(self.tell(Report::Missing)),
            Report::Asked | Report::Missing => None,
        }
    }

    /// The peer has told about this node's datagrams.
    pub(super) fn told(&mut self, to: Report) -> Option<Change> {
        let from = std::mem::replace(&mut self.outbound, to);
        (from != to).then_some(Change { from, to })
    }

    /// What the peer has to know on a new link.
    pub(super) fn reminder(&self) -> Option<Report> {
        Some(self.inbound).filter(|report| *report != Report::Arriving)
    }

    /// The peer's datagrams to this node; none if nothing came lately.
    pub(super) fn inbound(&self, now: Time) -> Option<DatagramPath> {
        path(self.inbound, self.came, now)
    }

    /// This node's datagrams to the peer; none if nothing was sent lately.
    pub(super) fn outbound(&self, now: Time) -> Option<DatagramPath> {
        path(self.outbound, self.sent, now)
    }

    fn tell(&mut self, to: Report) -> Change {
        let from = std::mem::replace(&mut self.inbound, to);
        (self.unanswered, self.carried, self.unasked, self.in_row) = (0, 0, 0, 0);
        Change { from, to }
    }
}

/// What was found out counts for as long as it is found out again.
fn path(report: Report, last: Option<Time>, now: Time) -> Option<DatagramPath> {
    last.filter(|last| now < *last + KNOWN_FOR)?;
    match report {
        Report::Arriving | Report::Asked => Some(DatagramPath::Arriving),
        Report::Missing => Some(DatagramPath::Missing),
    }
}

/// Two periods of silence: one datagram may be lost or late.
const ASK_AFTER: u32 = 3;
/// One may be lost, and another may still be on its way.
const MISSING_AFTER: u32 = 2;
/// Of missing datagrams every fourth is still sent.
const TRY_EVERY: u32 = 4;
/// One alone may have slipped through.
const ENOUGH: u32 = 3;
/// What the peer sent before it heard that the link is not needed.
const STRAY_MAX: u32 = 3;
/// Two nodes that are not heartbeat peers any more learn nothing new.
const KNOWN_FOR: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_micros(1);

    /// Two nodes that send each other a datagram in each round, in one of which the datagrams of
    /// the first get lost or not.
    #[derive(Default)]
    struct Pair {
        sender: Carrying,
        receiver: Carrying,
        reports: Vec<Report>,
        datagrams: u32,
        by_link: u32,
    }

    impl Pair {
        fn round(&mut self, passes: bool) {
            let sending = self.sender.send(NOW);
            assert_eq!(sending.change, None, "the other direction is well");
            self.datagrams += u32::from(sending.by_datagram);
            self.by_link += u32::from(sending.by_link);
            let came = (sending.by_datagram && passes).then(|| self.receiver.came(NOW)).flatten();
            let by_link = sending.by_link.then(|| self.receiver.came_by_link(NOW)).flatten();
            let answer = self.receiver.send(NOW);
            assert!(answer.by_datagram && !answer.by_link);
            assert_eq!(self.sender.came(NOW), None);
            for change in [came, by_link, answer.change].into_iter().flatten() {
                self.sender.told(change.to);
                self.reports.push(change.to);
            }
        }

        fn rounds(&mut self, count: u32, passes: bool) {
            (0..count).for_each(|_| self.round(passes));
        }
    }

    #[test]
    fn nothing_is_said_while_datagrams_arrive_and_single_ones_get_lost() {
        let mut pair = Pair::default();
        for round in 0..300 {
            pair.round(round % 2 == 0);
        }
        assert_eq!((pair.reports, pair.by_link), (vec![], 0));
    }

    #[test]
    fn the_link_carries_missing_datagrams_until_they_arrive_again() {
        let mut pair = Pair::default();
        pair.rounds(10, true);
        pair.rounds(2, false);
        assert_eq!(pair.reports, [Report::Asked]);
        assert_eq!(pair.by_link, 0);
        pair.rounds(2, false);
        assert_eq!(pair.reports, [Report::Asked, Report::Missing]);
        assert_eq!(pair.receiver.inbound(NOW), Some(DatagramPath::Missing));
        assert_eq!(pair.sender.outbound(NOW), Some(DatagramPath::Missing));
        (pair.datagrams, pair.by_link) = (0, 0);
        pair.rounds(100, false);
        assert_eq!((pair.datagrams, pair.by_link), (25, 100), "a few are tried");
        pair.rounds(3 * TRY_EVERY, true);
        assert_eq!(pair.reports.last(), Some(&Report::Arriving));
        assert_eq!(pair.receiver.inbound(NOW), Some(DatagramPath::Arriving));
        assert_eq!(pair.sender.outbound(NOW), Some(DatagramPath::Arriving));
        pair.by_link = 0;
        pair.rounds(100, true);
        assert_eq!((pair.reports.len(), pair.by_link), (3, 0));
    }

    #[test]
    fn one_datagram_that_slips_through_changes_nothing() {
        let mut pair = Pair::default();
        pair.rounds(5, false);
        for _ in 0..20 {
            pair.rounds(TRY_EVERY, true);
            pair.rounds(3 * TRY_EVERY, false);
        }
        assert_eq!(pair.reports, [Report::Asked, Report::Missing]);
    }

    #[test]
    fn a_peer_that_sends_nothing_is_asked_once_and_not_called_blocked() {
        let mut receiver = Carrying::default();
        let changes: Vec<Change> = (0..100).filter_map(|_| receiver.send(NOW).change).collect();
        assert_eq!(changes, [Change { from: Report::Arriving, to: Report::Asked }]);
        assert_eq!(receiver.inbound(NOW), None);
        assert_eq!(receiver.outbound(NOW), Some(DatagramPath::Arriving));
    }

    #[test]
    fn a_restarted_receiver_ends_what_it_does_not_need_and_keeps_what_it_needs() {
        for passes in [true, false] {
            let mut pair = Pair::default();
            pair.rounds(10, false);
            assert_eq!(pair.receiver.reminder(), Some(Report::Missing));
            pair.receiver = Carrying::default();
            assert_eq!(pair.receiver.reminder(), None);
            pair.rounds(20, passes);
            let wanted = if passes { Report::Arriving } else { Report::Missing };
            assert_eq!(pair.reports.last(), Some(&wanted));
            assert_eq!(pair.sender.outbound, wanted);
        }
    }

    #[test]
    fn what_was_found_out_is_forgotten_when_nothing_is_sent_any_more() {
        let mut pair = Pair::default();
        pair.rounds(10, false);
        let later = NOW + KNOWN_FOR;
        assert_eq!(pair.receiver.inbound(later), None);
        assert_eq!(pair.sender.outbound(later), None);
    }

    #[test]
    fn a_report_has_one_byte_of_its_own() {
        for report in [Report::Arriving, Report::Asked, Report::Missing] {
            assert_eq!(Report::of(report.number()), Some(report));
        }
        assert_eq!(Report::of(3), None);
    }
}
