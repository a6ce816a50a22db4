//! Backward reachability: which states can still reach a good state without another fault.
//!
//! Steps are kept by the state that they leave, as differences of seven bits a byte: about three
//! bytes each. Good states need none. Reachability spreads against the direction of the steps;
//! since most steps lead to later states, one pass from the last to the first spreads it almost
//! completely, and no second copy in the other direction is needed.

use tanist_sim::explore::varint;

/// The steps between states that count as progress.
pub(crate) struct Steps {
    parts: Vec<Part>,
}

struct Part {
    bytes: Vec<u8>,
    first: u32,
    last: u32,
    rows: usize,
}

impl Steps {
    pub(crate) const fn new() -> Self {
        Self { parts: Vec::new() }
    }

    /// How many bytes they occupy.
    pub(crate) fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.bytes.capacity()).sum()
    }

    /// Adds the successors of one state; states are added in order.
    pub(crate) fn push(&mut self, from: u32, to: &mut Vec<u32>) {
        to.sort_unstable();
        to.dedup();
        to.retain(|to| *to != from);
        if to.is_empty() {
            return;
        }
        if self.parts.last().is_none_or(|part| part.rows == ROWS) {
            if let Some(full) = self.parts.last_mut() {
                full.bytes.shrink_to_fit();
            }
            self.parts.push(Part { bytes: Vec::new(), first: from, last: from, rows: 0 });
        }
        if let Some(part) = self.parts.last_mut() {
            varint::write(&mut part.bytes, u64::from(from - part.last));
            varint::write(&mut part.bytes, to.len() as u64);
            let mut before = from;
            for to in to {
                let difference = i64::from(*to) - i64::from(before);
                varint::write(&mut part.bytes, varint::zigzag(difference));
                before = *to;
            }
            (part.last, part.rows) = (from, part.rows + 1);
        }
    }

    /// Adds every state from which a state of the set can be reached.
    pub(crate) fn spread(&self, reaching: &mut Bits) {
        let mut rows = Vec::new();
        let mut is_spreading = true;
        while is_spreading {
            is_spreading = false;
            for part in self.parts.iter().rev() {
                part.read(&mut rows);
                for (from, to) in rows.iter().rev() {
                    if !reaching.has(*from) && to.iter().any(|to| reaching.has(*to)) {
                        reaching.set(*from);
                        is_spreading = true;
                    }
                }
            }
        }
    }

    /// The successors of all states that are not in the set.
    pub(crate) fn successors_of_others(&self, bits: &Bits) -> Bits {
        let (mut targets, mut rows) = (Bits::new(), Vec::new());
        for part in &self.parts {
            part.read(&mut rows);
            let without = rows.iter().filter(|(from, _)| !bits.has(*from));
            without.flat_map(|(_, to)| to).for_each(|to| targets.set(*to));
        }
        targets
    }
}

impl Part {
    fn read(&self, rows: &mut Vec<(u32, Vec<u32>)>) {
        let (mut rest, mut from) = (self.bytes.as_slice(), self.first);
        rows.clear();
        while !rest.is_empty() {
            from += u32::try_from(varint::read(&mut rest)).unwrap_or(0);
            let count = varint::read(&mut rest);
            let mut before = i64::from(from);
            let to = (0..count).map(|_| {
                before += varint::unzigzag(varint::read(&mut rest));
                u32::try_from(before).unwrap_or(0)
            });
            let to = to.collect();
            rows.push((from, to));
        }
    }
}

/// How many states a part covers.
const ROWS: usize = 4096;

/// A set of states, one bit for each.
#[derive(Clone)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn has(&self, at: u32) -> bool {
        self.0.get(at as usize / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    pub(crate) fn set(&mut self, at: u32) {
        let word = at as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (at % 64);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The first of so many that has no bit.
    pub(crate) fn first_without(&self, count: usize) -> Option<u32> {
        (0..count).filter_map(|at| u32::try_from(at).ok()).find(|at| !self.has(*at))
    }

    /// The union of both.
    pub(crate) fn or(mut self, other: &Self) -> Self {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(mine, other)| *mine |= other);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hope_spreads_against_the_steps_and_round_loops() {
        // 0 -> 1 -> 2 -> 0 is a loop that 2 can leave towards 5; 3 and 4 only have each other.
        let mut steps = Steps::new();
        for (from, to) in [(0, vec![1, 3]), (1, vec![2]), (2, vec![0, 5]), (3, vec![4, 3])] {
            steps.push(from, &mut to.clone());
        }
        steps.push(4, &mut vec![3]);
        let mut reaching = Bits::new();
        reaching.set(5);
        steps.spread(&mut reaching);
        let all: Vec<bool> = (0..6).map(|at| reaching.has(at)).collect();
        assert_eq!(all, [true, true, true, false, false, true]);
        assert_eq!((reaching.first_without(6), reaching.count()), (Some(3), 4));
    }
}
