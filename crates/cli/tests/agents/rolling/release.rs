//! The releases of these tests, and the version that two of them have in common.

/// What a release speaks and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) name: &'static str,
    /// The versions of the wire, as `TANIST_DEV_WIRE_VERSIONS` has them.
    pub(crate) wire: &'static str,
    /// The latest version of the store that it reads, and the one that it writes.
    pub(crate) store: &'static str,
}

/// The first of three releases.
pub(crate) const FIRST: Release = Release { name: "first", wire: "2", store: "1:1" };
/// It adds a version of the wire and one of the store.
pub(crate) const BRINGS: Release = Release { name: "brings", wire: "2..3", store: "2:1" };
/// It drops the earlier version of the wire, and writes the later one of the store.
pub(crate) const DROPS: Release = Release { name: "drops", wire: "3", store: "2:2" };

impl Release {
    /// The version of a link between two releases.
    pub(crate) fn common(self, other: Self) -> Option<u64> {
        let ((min, max), (other_min, other_max)) = (self.range(), other.range());
        let newest = max.min(other_max);
        (newest >= min.max(other_min)).then_some(newest)
    }

    fn range(self) -> (u64, u64) {
        let (min, max) = self.wire.split_once("..").unwrap_or((self.wire, self.wire));
        (min.parse().unwrap(), max.parse().unwrap())
    }
}
