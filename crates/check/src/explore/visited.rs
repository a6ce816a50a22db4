//! The situations that were visited, each as the number that stands for it.
//!
//! Sixteen bytes for the number, and a slot of four in a table that is at most three quarters full.
//! Assumes that equal numbers mean equal situations: with a billion of them, the chance that two
//! different ones share 128 bits is less than one in a hundred million million million.

use crate::explore::segments::Segments;

/// A set of numbers, each with its place in the order of arrival.
pub(crate) struct Visited {
    fingerprints: Segments<u128>,
    /// The place plus one; zero is free. As many as a power of two.
    slots: Vec<u32>,
}

/// Whether a number was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// It is new, at this place.
    Fresh(u32),
    /// It was there, at this place.
    Again(u32),
}

impl Visited {
    pub(crate) fn new() -> Self {
        Self { fingerprints: Segments::new(), slots: vec![0; SLOTS_MIN] }
    }

    pub(crate) const fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// How many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.fingerprints.bytes() + self.slots.capacity() * size_of::<u32>()
    }

    /// The number at a place.
    pub(crate) fn fingerprint(&self, place: u32) -> u128 {
        self.fingerprints.get(place as usize)
    }

    /// Where a number is.
    pub(crate) fn find(&self, fingerprint: u128) -> Option<u32> {
        self.slot(fingerprint).1
    }

    pub(crate) fn insert(&mut self, fingerprint: u128) -> Arrived {
        let (slot, found) = self.slot(fingerprint);
        if let Some(place) = found {
            return Arrived::Again(place);
        }
        let place = u32::try_from(self.len()).expect("memory ends before four billion situations");
        self.fingerprints.push(fingerprint);
        self.slots[slot] = place + 1;
        if self.len() * 4 > self.slots.len() * 3 {
            self.grow();
        }
        Arrived::Fresh(place)
    }

    /// The slot of a number, and its place if it is there.
    fn slot(&self, fingerprint: u128) -> (usize, Option<u32>) {
        let mask = self.slots.len() - 1;
        let mut slot = fingerprint as usize & mask;
        loop {
            match self.slots[slot] {
                0 => return (slot, None),
                taken if self.fingerprint(taken - 1) == fingerprint => {
                    return (slot, Some(taken - 1));
                }
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    fn grow(&mut self) {
        let doubled = self.slots.len() * 2;
        // The old table goes before the new one comes.
        self.slots = Vec::new();
        self.slots = vec![0; doubled];
        let mask = doubled - 1;
        for (place, fingerprint) in (1..).zip(self.fingerprints.iter()) {
            let mut slot = fingerprint as usize & mask;
            while self.slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = place;
        }
    }
}

const SLOTS_MIN: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_place_while_the_table_grows() {
        let mut visited = Visited::new();
        let number = |at: u32| u128::from(at % 7) | (u128::from(at) << 64);
        for at in 0..5000 {
            assert_eq!(visited.insert(number(at)), Arrived::Fresh(at));
        }
        for at in 0..5000 {
            assert_eq!(visited.insert(number(at)), Arrived::Again(at));
            assert_eq!(visited.find(number(at)), Some(at));
        }
        assert_eq!(visited.find(number(5000)), None);
    }
}
