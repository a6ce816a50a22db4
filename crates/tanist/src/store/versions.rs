//! Which versions of a record this program reads, and which it writes.
//!
//! A release that brings version N reads it and does not begin to write it; the release after it
//! does. So whatever a release writes, the release before it reads, and a node can go one release
//! forwards and one back again with its counter. A store never goes back by itself: a record is
//! replaced in the version that it has, or in a later one
//! (`docs/decisions/0018-versions-of-the-store.md`).

/// What a program does about versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The latest version that it reads. It reads all before it, from 1 on.
    pub read_max: u16,
    /// The version that it writes where nothing later is there.
    pub written: u16,
}

impl Versions {
    /// Those of this release.
    pub const RELEASE: Self = Self { read_max: 1, written: 1 };

    /// Those of this process: of this release, unless a test build is told to be a later one.
    #[must_use]
    pub fn current() -> Self {
        #[cfg(feature = "test-versions")]
        if let Ok(text) = std::env::var(VARIABLE) {
            return Self::parse(&text).expect("a test gives READ_MAX:WRITTEN, such as 2:1");
        }
        Self::RELEASE
    }

    /// The version in which a record is replaced.
    #[must_use]
    pub fn replacing(self, found: u16) -> u16 {
        self.written.max(found)
    }

    #[cfg(feature = "test-versions")]
    fn parse(text: &str) -> Option<Self> {
        let (read_max, written) = text.split_once(':')?;
        Some(Self { read_max: read_max.parse().ok()?, written: written.parse().ok()? })
    }
}

/// Makes a test build behave as a later release; other builds do not look at it.
#[cfg(feature = "test-versions")]
const VARIABLE: &str = "TANIST_TEST_STORE_VERSIONS";
