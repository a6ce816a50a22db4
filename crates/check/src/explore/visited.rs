//! The states that were visited, each by its fingerprint.
//!
//! Sixteen bytes for the fingerprint, and a slot of four in a table that is at most three quarters
//! full. Assumes that equal fingerprints mean equal states: with a billion of them, the probability
//! that two different ones share 128 bits is less than one in a hundred million million million.

use crate::explore::segments::Segments;

/// A set of fingerprints, each with its index in the order of insertion.
pub(crate) struct Visited {
    fingerprints: Segments<u128>,
    /// The index plus one; zero is free. Its length is a power of two.
    slots: Vec<u32>,
}

/// The result of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// The fingerprint is new, at this index.
    Fresh(u32),
    /// The fingerprint was present, at this index.
    Again(u32),
}

impl Visited {
    pub(crate) fn new() -> Self {
        Self { fingerprints: Segments::new(), slots: vec![0; SLOTS_MIN] }
    }

    pub(crate) const fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// How many bytes it occupies.
    pub(crate) fn bytes(&self) -> usize {
        self.fingerprints.bytes() + self.slots.capacity() * size_of::<u32>()
    }

    /// How many bytes its table grows by before it holds so many fingerprints more.
    pub(crate) fn bytes_of_growth(&self, more: usize) -> usize {
        let is_growing = (self.len() + more) * 4 > self.slots.len() * 3;
        if is_growing { self.slots.len() * size_of::<u32>() } else { 0 }
    }

    /// The fingerprint at an index.
    pub(crate) fn fingerprint(&self, place: u32) -> u128 {
        self.fingerprints.get(place as usize)
    }

    /// The index of a fingerprint.
    pub(crate) fn find(&self, fingerprint: u128) -> Option<u32> {
        self.slot(fingerprint).1
    }

    pub(crate) fn insert(&mut self, fingerprint: u128) -> Arrived {
        let (slot, found) = self.slot(fingerprint);
        if let Some(place) = found {
            return Arrived::Again(place);
        }
        let place = u32::try_from(self.len()).expect("memory is full before four billion states");
        self.fingerprints.push(fingerprint);
        self.slots[slot] = place + 1;
        if self.len() * 4 > self.slots.len() * 3 {
            self.grow();
        }
        Arrived::Fresh(place)
    }

    /// The slot of a fingerprint, and its index if it is present.
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
        let larger = self.slots.len() * 2;
        // Free the old table before the new one is allocated.
        self.slots = Vec::new();
        self.slots = vec![0; larger];
        let mask = larger - 1;
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
