//! The world's clock in ticks, for a world that is driven by choices under bounded delays.
//!
//! A tick is the maximum delay of a message. Each choice takes a microsecond, so that a trace is in
//! order; a thousand of them fit into a tick of a millisecond, and only whole ticks are ever
//! compared. Assumes that no message exceeds the bound, and that timeouts are whole ticks.

use std::time::Duration;

use tanist_core::Time;
use tanist_core::time::micros;

use crate::explore::digest::digest;
use crate::world::World;

impl World {
    /// How long a tick is.
    #[must_use]
    pub fn tick_length(&self) -> Duration {
        self.config.timing().message_max()
    }

    /// How many ticks a message or timer in flight has left until it is due.
    #[must_use]
    pub fn ticks_left(&self, number: u64) -> u64 {
        let mut all = self.schedule.all();
        let due = all.find(|(known, ..)| *known == number).map_or(self.now, |(_, due, _)| due);
        self.ticks(due).saturating_sub(self.ticks(self.now))
    }

    /// Advances the clock to the next whole tick.
    pub fn tick(&mut self) {
        let next = self.ticks(self.now) + 1;
        self.now = Time::from_micros(next * micros(self.tick_length()).max(1));
    }

    /// A digest of the time that these have left, independent of their order and of the time of
    /// day.
    #[must_use]
    pub fn clock_fingerprint(&self, numbers: impl Iterator<Item = u64>) -> u128 {
        let all = numbers.map(|number| {
            let scheduled = self.schedule.entries().find(|(known, _)| *known == number);
            let content = scheduled.map(|(_, scheduled)| self.digest_of(scheduled));
            digest(&(content, self.ticks_left(number)))
        });
        all.fold(0, u128::wrapping_add)
    }

    fn ticks(&self, time: Time) -> u64 {
        time.as_micros() / micros(self.tick_length()).max(1)
    }
}
