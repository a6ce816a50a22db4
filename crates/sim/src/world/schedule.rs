//! The queue of scheduled events. At equal times faults come first, then deliveries, then timers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tanist_core::Time;

/// Which of several events that are due at the same time comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Faults and commands of the scenario.
    Fault,
    /// Messages that arrive, and answers of the application.
    Delivery,
    /// Timers that expire.
    Timer,
}

/// A queue ordered by time; within a class and a time, first in, first out.
#[derive(Clone, Debug)]
pub struct Schedule<T> {
    heap: BinaryHeap<Reverse<(Time, Class, u64, usize)>>,
    slots: Vec<Option<T>>,
    free: Vec<usize>,
    count: u64,
}

impl<T> Schedule<T> {
    /// An empty schedule.
    #[must_use]
    pub const fn new() -> Self {
        Self { heap: BinaryHeap::new(), slots: Vec::new(), free: Vec::new(), count: 0 }
    }

    /// Adds an item; the number it gets is unique and grows.
    pub fn add(&mut self, at: Time, class: Class, item: T) -> u64 {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot] = Some(item);
                slot
            }
            None => {
                self.slots.push(Some(item));
                self.slots.len() - 1
            }
        };
        self.count += 1;
        self.heap.push(Reverse((at, class, self.count, slot)));
        self.count
    }

    /// When the next item is due.
    #[must_use]
    pub fn next_at(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes the next item, with its time and its number.
    pub fn pop(&mut self) -> Option<(Time, u64, T)> {
        let Reverse((at, _, number, slot)) = self.heap.pop()?;
        self.free.push(slot);
        self.slots[slot].take().map(|item| (at, number, item))
    }

    /// All items with their numbers, in no particular order.
    pub fn entries(&self) -> impl Iterator<Item = (u64, &T)> + '_ {
        self.all().map(|(number, _, item)| (number, item))
    }

    /// All items with their numbers and times, in no particular order.
    pub fn all(&self) -> impl Iterator<Item = (u64, Time, &T)> + '_ {
        let entries = self.heap.iter();
        entries.filter_map(|Reverse((at, _, number, slot))| {
            self.slots[*slot].as_ref().map(|item| (*number, *at, item))
        })
    }

    /// Removes all items; numbers start from 1 again.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.slots.clear();
        self.free.clear();
        self.count = 0;
    }

    /// Removes one item, whenever it was due.
    pub fn remove(&mut self, number: u64) -> Option<T> {
        let mut found = None;
        self.heap.retain(|Reverse((_, _, known, slot))| {
            if *known == number {
                found = Some(*slot);
            }
            *known != number
        });
        let slot = found?;
        self.free.push(slot);
        self.slots[slot].take()
    }

    /// Removes these items.
    pub fn remove_all(&mut self, numbers: &[u64]) {
        if numbers.is_empty() {
            return;
        }
        self.heap.retain(|Reverse((_, _, number, slot))| {
            let is_meant = numbers.contains(number);
            if is_meant {
                self.slots[*slot] = None;
                self.free.push(*slot);
            }
            !is_meant
        });
    }

    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_equal_times_deliveries_precede_timers_and_keep_their_order() {
        let mut schedule = Schedule::new();
        let at = Time::from_micros(5);
        schedule.add(at, Class::Timer, "timer");
        schedule.add(at, Class::Delivery, "first");
        schedule.add(at, Class::Delivery, "second");
        schedule.add(at, Class::Fault, "fault");
        schedule.add(Time::ZERO, Class::Timer, "earlier");
        let order: Vec<_> =
            std::iter::from_fn(|| schedule.pop().map(|(_, _, what)| what)).collect();
        assert_eq!(order, ["earlier", "fault", "first", "second", "timer"]);
    }
}
