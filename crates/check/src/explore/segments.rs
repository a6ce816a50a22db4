//! A long list that grows without being copied: a vector would hold the old and the new copy at
//! once.

/// Values in order of insertion.
pub(crate) struct Segments<T> {
    parts: Vec<Vec<T>>,
    count: usize,
}

impl<T: Copy> Segments<T> {
    pub(crate) const fn new() -> Self {
        Self { parts: Vec::new(), count: 0 }
    }

    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    /// How many bytes it occupies.
    pub(crate) fn bytes(&self) -> usize {
        self.parts.len() * LENGTH * size_of::<T>()
    }

    pub(crate) fn push(&mut self, value: T) {
        if self.count.is_multiple_of(LENGTH) {
            self.parts.push(Vec::with_capacity(LENGTH));
        }
        self.parts[self.count / LENGTH].push(value);
        self.count += 1;
    }

    pub(crate) fn get(&self, at: usize) -> T {
        self.parts[at / LENGTH][at % LENGTH]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.parts.iter().flatten().copied()
    }
}

/// Values in a part.
const LENGTH: usize = 1 << 14;
