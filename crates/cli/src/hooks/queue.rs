//! What hooks have still to be told, and in which order.
//!
//! In the order of the history, always. A hook that is slow makes others wait; what is old by the
//! time its turn comes may be left out, so that hooks catch up with the node:
//!
//! - the first news of an incarnation, that the node starts, is never left out, nor is the newest;
//! - `leader` is left out if anything newer waits, since then the leadership is over;
//! - after a `leader` or a `pre_leader` that was run, the next `suspended` or `member` is run;
//! - `members` of a leadership that goes on is never left out;
//! - any other news is left out only if something newer waits and it has waited for too long.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::event::Event;
use crate::agent::change::RoleChange;

/// News that waits for its turn.
#[derive(Debug)]
pub(crate) struct News {
    /// What happened.
    pub(crate) event: Event,
    /// The change of the history that tells it.
    pub(crate) change: Arc<RoleChange>,
    /// Since when it waits.
    pub(crate) since: Instant,
    /// Who waits for the answer, if it is a question.
    pub(crate) reply: Option<oneshot::Sender<Result<(), String>>>,
}

/// What hooks have still to be told.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: VecDeque<News>,
    /// A hook was told that the node is active or about to be, and none yet that this is over.
    has_led: bool,
    /// Whether any hook was told anything.
    has_begun: bool,
}

impl Queue {
    /// Adds what happened last.
    pub(crate) fn push(&mut self, news: News) {
        self.waiting.push_back(news);
    }

    /// What to tell next, and what was left out before it.
    pub(crate) fn next(&mut self, now: Instant) -> (Option<News>, Vec<Event>) {
        let mut skipped = Vec::new();
        while let Some(news) = self.waiting.pop_front() {
            if !self.is_worth_telling(&news, now) {
                skipped.push(news.event);
                continue;
            }
            self.has_begun = true;
            self.has_led = match news.event {
                Event::PreLeader | Event::Leader => true,
                Event::Member | Event::Suspended | Event::Stop => false,
                Event::Members => self.has_led,
            };
            return (Some(news), skipped);
        }
        (None, skipped)
    }

    fn is_worth_telling(&self, news: &News, now: Instant) -> bool {
        // A question ends nothing, and other members end no leadership.
        let is_newer = |later: &News| later.reply.is_none() && later.event != Event::Members;
        let has_newer = self.waiting.iter().any(is_newer);
        match news.event {
            // The leadership is over when the answer is not waited for.
            Event::PreLeader => news.reply.as_ref().is_some_and(|reply| !reply.is_closed()),
            Event::Leader => !has_newer,
            Event::Member | Event::Suspended => {
                let is_fresh = now.saturating_duration_since(news.since) <= STALE_AFTER;
                !has_newer || self.has_led || !self.has_begun || is_fresh
            }
            Event::Members | Event::Stop => true,
        }
    }
}

/// News that has waited for longer is left out if there is newer.
pub(crate) const STALE_AFTER: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use tanist::NodeId;
    use tanist_core::Time;

    use super::*;

    fn change() -> Arc<RoleChange> {
        Arc::new(RoleChange::start(NodeId(1), Time::ZERO, SystemTime::UNIX_EPOCH))
    }

    struct Bench {
        queue: Queue,
        now: Instant,
    }

    impl Bench {
        fn new() -> Self {
            Self { queue: Queue::default(), now: Instant::now() }
        }

        fn push(&mut self, events: &[Event]) {
            for event in events {
                let news = News { event: *event, change: change(), since: self.now, reply: None };
                self.queue.push(news);
            }
        }

        fn ask(&mut self) -> oneshot::Receiver<Result<(), String>> {
            let (reply, answer) = oneshot::channel();
            let event = Event::PreLeader;
            self.queue.push(News { event, change: change(), since: self.now, reply: Some(reply) });
            answer
        }

        /// Everything that is told, if nothing new comes.
        fn told(&mut self) -> Vec<&'static str> {
            let next = || self.queue.next(self.now).0.map(|news| news.event.name());
            std::iter::from_fn(next).collect()
        }

        fn later(&mut self) {
            self.now += STALE_AFTER * 2;
        }
    }

    use Event::{Leader, Member, Members, Suspended};

    #[test]
    fn fresh_news_is_told_in_order_and_nothing_is_left_out() {
        let mut bench = Bench::new();
        bench.push(&[Suspended, Member, Suspended, Member, Suspended, Leader]);
        assert_eq!(
            bench.told(),
            ["suspended", "member", "suspended", "member", "suspended", "leader"]
        );
    }

    #[test]
    fn of_old_news_the_last_is_told() {
        let mut bench = Bench::new();
        bench.push(&[Suspended]);
        assert_eq!(bench.told(), ["suspended"]);
        bench.push(&[Suspended, Member, Suspended, Member, Suspended, Member]);
        bench.later();
        let (first, skipped) = bench.queue.next(bench.now);
        assert_eq!(first.unwrap().event, Member);
        assert_eq!(skipped.len(), 5);
        assert_eq!(bench.told().len(), 0);
    }

    #[test]
    fn that_the_node_starts_is_told_first_however_late_it_is() {
        let mut bench = Bench::new();
        bench.push(&[Suspended, Suspended, Member]);
        bench.later();
        assert_eq!(bench.told(), ["suspended", "member"]);
    }

    #[test]
    fn a_term_that_is_over_is_never_told_as_leading() {
        let mut bench = Bench::new();
        bench.push(&[Suspended, Leader, Suspended]);
        assert_eq!(bench.told(), ["suspended", "suspended"]);
    }

    #[test]
    fn a_leadership_that_goes_on_with_other_members_is_told_as_leading() {
        let mut bench = Bench::new();
        bench.push(&[Suspended, Leader, Members, Members]);
        assert_eq!(bench.told(), ["suspended", "leader", "members", "members"]);
        bench.push(&[Members, Suspended]);
        bench.later();
        assert_eq!(bench.told(), ["members", "suspended"]);
    }

    #[test]
    fn a_leader_that_was_told_is_told_that_it_is_over_however_late_it_is() {
        let mut bench = Bench::new();
        bench.push(&[Leader]);
        assert_eq!(bench.told(), ["leader"]);
        bench.push(&[Suspended, Member, Suspended, Leader, Suspended, Leader]);
        bench.later();
        assert_eq!(bench.told(), ["suspended", "leader"]);
    }

    #[test]
    fn a_gate_that_was_passed_is_followed_by_the_end_of_it_too() {
        let mut bench = Bench::new();
        let _answer = bench.ask();
        assert_eq!(bench.told(), ["pre_leader"]);
        bench.push(&[Suspended, Member]);
        bench.later();
        assert_eq!(bench.told(), ["suspended", "member"]);
    }

    #[test]
    fn a_gate_that_nobody_waits_at_is_left_out() {
        let mut bench = Bench::new();
        drop(bench.ask());
        bench.push(&[Suspended]);
        assert_eq!(bench.told(), ["suspended"]);
    }
}
