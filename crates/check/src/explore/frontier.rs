//! The states whose successors are still to be visited, as bytes one after the other.
//!
//! A batch has a fixed number of states, not of bytes: where a batch ends must not depend on how
//! states are encoded, or an exploration on three cores would stop elsewhere than one on two.

use tanist_sim::explore::varint;

/// Snapshots in order of their places.
pub(crate) struct Frontier {
    batches: Vec<Batch>,
    count: usize,
}

/// Consecutive states of the frontier.
pub(crate) struct Batch {
    bytes: Vec<u8>,
    count: usize,
    last: u32,
}

impl Frontier {
    pub(crate) const fn new() -> Self {
        Self { batches: Vec::new(), count: 0 }
    }

    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many bytes it occupies.
    pub(crate) fn bytes(&self) -> usize {
        self.batches.iter().map(|batch| batch.bytes.capacity()).sum()
    }

    /// Adds a state; indices only grow.
    pub(crate) fn push(&mut self, place: u32, snapshot: &[u8]) {
        if self.batches.last().is_none_or(|batch| batch.count == BATCH) {
            if let Some(full) = self.batches.last_mut() {
                full.bytes.shrink_to_fit();
            }
            self.batches.push(Batch { bytes: Vec::new(), count: 0, last: 0 });
        }
        if let Some(batch) = self.batches.last_mut() {
            varint::write(&mut batch.bytes, u64::from(place - batch.last));
            varint::write(&mut batch.bytes, snapshot.len() as u64);
            batch.bytes.extend_from_slice(snapshot);
            (batch.last, batch.count) = (place, batch.count + 1);
            self.count += 1;
        }
    }

    /// All batches, first to last.
    pub(crate) fn into_batches(self) -> std::vec::IntoIter<Batch> {
        self.batches.into_iter()
    }
}

impl Batch {
    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    /// Every state of the batch with its index.
    pub(crate) fn entries(&self) -> Vec<(u32, &[u8])> {
        let (mut rest, mut place) = (self.bytes.as_slice(), 0);
        let mut entries = Vec::with_capacity(self.count);
        while !rest.is_empty() {
            place += u32::try_from(varint::read(&mut rest)).unwrap_or(0);
            let length = usize::try_from(varint::read(&mut rest)).unwrap_or(0);
            let (snapshot, more) = rest.split_at(length);
            entries.push((place, snapshot));
            rest = more;
        }
        entries
    }
}

/// How many states are expanded before their successors are entered.
const BATCH: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out_in_order() {
        let mut frontier = Frontier::new();
        let places = (0..10_000).map(|at| at * 3 + 200_000);
        for place in places.clone() {
            frontier.push(place, &place.to_le_bytes()[..(place % 4) as usize]);
        }
        let batches: Vec<Batch> = frontier.into_batches().collect();
        assert_eq!(batches.len(), 3);
        let entries: Vec<(u32, &[u8])> = batches.iter().flat_map(Batch::entries).collect();
        assert!(entries.iter().map(|(place, _)| *place).eq(places));
        assert!(entries.iter().all(|(place, snapshot)| {
            *snapshot == &place.to_le_bytes()[..(place % 4) as usize]
        }));
    }
}
