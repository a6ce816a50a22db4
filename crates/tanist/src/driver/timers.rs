//! Named timers with deadlines on the boot-time clock: setting a name again replaces it.

use std::collections::{BTreeMap, BTreeSet};

use tanist_core::Time;
use tanist_core::node::Timer;

/// The timers that are running.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    deadlines: BTreeMap<Timer, Time>,
    in_order: BTreeSet<(Time, Timer)>,
}

impl Timers {
    /// Starts a timer, or restarts it.
    pub(crate) fn set(&mut self, timer: Timer, deadline: Time) {
        self.cancel(timer);
        self.deadlines.insert(timer, deadline);
        self.in_order.insert((deadline, timer));
    }

    /// Stops a timer, if it is running.
    pub(crate) fn cancel(&mut self, timer: Timer) {
        if let Some(deadline) = self.deadlines.remove(&timer) {
            self.in_order.remove(&(deadline, timer));
        }
    }

    /// When the first one runs out; [`Time::NEVER`] if none is running.
    pub(crate) fn next(&self) -> Time {
        self.in_order.first().map_or(Time::NEVER, |(deadline, _)| *deadline)
    }

    /// Takes out the first one that has run out by now.
    pub(crate) fn take_due(&mut self, now: Time) -> Option<Timer> {
        let (deadline, timer) = *self.in_order.first()?;
        if deadline > now {
            return None;
        }
        self.cancel(timer);
        Some(timer)
    }
}

#[cfg(test)]
mod tests {
    use tanist_core::reorganization::Handover;

    use super::*;

    const fn at(micros: u64) -> Time {
        Time::from_micros(micros)
    }

    #[test]
    fn a_timer_that_is_set_again_runs_out_once_and_later() {
        let mut timers = Timers::default();
        let timer = Timer::Reorganization(Handover);
        timers.set(timer, at(10));
        timers.set(timer, at(20));
        assert_eq!(timers.next(), at(20));
        assert_eq!(timers.take_due(at(19)), None);
        assert_eq!(timers.take_due(at(20)), Some(timer));
        assert_eq!(timers.take_due(at(99)), None);
        assert_eq!(timers.next(), Time::NEVER);
    }

    #[test]
    fn a_cancelled_timer_never_runs_out() {
        let mut timers = Timers::default();
        let timer = Timer::Reorganization(Handover);
        timers.set(timer, at(10));
        timers.cancel(timer);
        assert_eq!(timers.take_due(at(99)), None);
    }
}
