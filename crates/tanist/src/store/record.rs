//! The bytes of a record, and what is refused.
//!
//! ```text
//! magic (8, names the kind) | version (2) | length of body (4) | body (CBOR) | crc32 of these (4)
//! ```
//!
//! Numbers of the frame are big-endian. The frame is the same in every version, so that damage and
//! a newer version can be told apart: the checksum is judged first. A file has one exact length.
//! Fields of a body are numbered; a new one that an older tanist may skip and lose is added without
//! a new version, any other with one. Which versions are read and written is in `versions.rs`.
//!
//! Pure: bytes in, record out. It knows no file, and what a record means is judged elsewhere.

use minicbor::{Decode, Encode};
use tanist_core::NodeRecord;
use tanist_core::group::Counter;

use super::versions::Versions;

/// What a store keeps in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// What the store is bound to.
    Identity(IdentityRecord),
    /// The highest counter that may have been used.
    Counter(CounterRecord),
}

/// A random name, so that files of two stores cannot be taken for files of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(transparent)]
pub struct StoreId(#[cbor(n(0), with = "minicbor::bytes")] pub [u8; 16]);

/// What a store is bound to. Written once, when the store is made, and when it is adopted.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct IdentityRecord {
    /// Which store.
    #[n(0)]
    pub store: StoreId,
    /// The node whose numbers it counts.
    #[n(1)]
    pub node: u32,
    /// The name of the node's group.
    #[n(2)]
    pub group: String,
    /// The file that is locked.
    #[n(3)]
    pub lock: LockMark,
}

/// What tells a lock file from a copy of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct LockMark {
    /// Its inode number. A copy in the same file system has another one.
    #[n(0)]
    pub inode: u64,
    /// When it was made, in nanoseconds since 1970, where the file system tells. A copy in a fresh
    /// file system may well get the same inode number, but it was made later.
    #[n(1)]
    pub born: Option<u64>,
}

impl LockMark {
    /// Whether both can be the same file.
    #[must_use]
    pub fn is_same_file(self, other: Self) -> bool {
        let is_same_birth = match (self.born, other.born) {
            (Some(ours), Some(theirs)) => ours == theirs,
            (None, _) | (_, None) => true,
        };
        self.inode == other.inode && is_same_birth
    }
}

/// The counter, as a file holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct CounterRecord {
    /// Which store.
    #[n(0)]
    pub store: StoreId,
    /// How many saves led here.
    #[n(1)]
    pub sequence: u64,
    /// The counter; 0 when no number was ever handed out.
    #[n(2)]
    pub counter: u64,
}

impl CounterRecord {
    /// The record of a store that was never used.
    #[must_use]
    pub const fn unused(store: StoreId) -> Self {
        Self { store, sequence: 0, counter: 0 }
    }

    /// The record of the next save.
    #[must_use]
    pub const fn followed_by(self, record: &NodeRecord) -> Self {
        let sequence = self.sequence.saturating_add(1);
        Self { store: self.store, sequence, counter: record.counter.0 }
    }

    /// What the node has saved; the default if it never saved anything.
    #[must_use]
    pub const fn record(self) -> NodeRecord {
        NodeRecord { counter: Counter(self.counter) }
    }

    /// The counter, if a number was ever handed out.
    #[must_use]
    pub const fn handed_out(self) -> Option<Counter> {
        if self.counter == 0 { None } else { Some(Counter(self.counter)) }
    }
}

/// Why bytes are not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Shorter than the shortest record.
    #[error("it has {length} bytes, fewer than any record")]
    TooShort {
        /// How many bytes there are.
        length: usize,
    },
    /// It begins with something else.
    #[error("it does not begin as a record of tanist does")]
    Foreign,
    /// A record of the other kind.
    #[error("it is a record of another kind")]
    OtherKind,
    /// Cut off, or something was added.
    #[error("it has {length} bytes instead of {expected}")]
    Length {
        /// How many bytes there are.
        length: usize,
        /// How many there must be.
        expected: u64,
    },
    /// Changed after it was written.
    #[error("its checksum does not fit its content")]
    Checksum,
    /// Whole, but of a version that this program does not know.
    #[error("it is of version {version}, written by a newer tanist")]
    Newer {
        /// The version of the record.
        version: u16,
    },
    /// The frame is right and the body is not what a tanist writes.
    #[error("its checksum fits, but its content cannot be understood")]
    Malformed,
}

impl Record {
    /// The bytes of a file, in the version that this release writes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        self.encode_as(Versions::RELEASE.written)
    }

    /// The bytes of a file in a version that this program knows.
    pub(super) fn encode_as(&self, version: u16) -> Vec<u8> {
        let body = match self {
            Self::Identity(identity) => minicbor::to_vec(identity),
            #[cfg(any(test, feature = "test-versions"))]
            Self::Counter(counter) if version == second::VERSION => {
                minicbor::to_vec(second::CounterRecord::from(*counter))
            }
            Self::Counter(counter) => minicbor::to_vec(counter),
        };
        frame(self.magic(), version, &body.expect("writing to memory does not fail"))
    }

    const fn magic(&self) -> [u8; 8] {
        match self {
            Self::Identity(_) => IDENTITY_MAGIC,
            Self::Counter(_) => COUNTER_MAGIC,
        }
    }
}

/// Puts a body into the frame.
fn frame(magic: [u8; 8], version: u16, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("a body is as short as the name of a group");
    let mut bytes = Vec::with_capacity(FRAME_LENGTH + body.len());
    bytes.extend(magic);
    bytes.extend(version.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes.extend(body);
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes
}

/// A record as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) record: Record,
    pub(super) version: u16,
}

/// Reads the bytes of a whole file, of a version that this release knows.
pub fn decode(bytes: &[u8]) -> Result<Record, DecodeError> {
    decode_as(bytes, Versions::RELEASE).map(|found| found.record)
}

/// Reads the bytes of a whole file, of a version that is known.
pub(super) fn decode_as(bytes: &[u8], versions: Versions) -> Result<Found, DecodeError> {
    let too_short = DecodeError::TooShort { length: bytes.len() };
    let (head, checksum) = bytes.split_last_chunk::<4>().ok_or(too_short)?;
    let (magic, rest) = head.split_first_chunk::<8>().ok_or(too_short)?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or(too_short)?;
    let (length, body) = rest.split_first_chunk::<4>().ok_or(too_short)?;
    if ![IDENTITY_MAGIC, COUNTER_MAGIC].contains(magic) {
        return Err(DecodeError::Foreign);
    }
    let expected = u64::from(u32::from_be_bytes(*length)) + FRAME_LENGTH as u64;
    if bytes.len() as u64 != expected {
        return Err(DecodeError::Length { length: bytes.len(), expected });
    }
    if crc32fast::hash(head) != u32::from_be_bytes(*checksum) {
        return Err(DecodeError::Checksum);
    }
    let version = u16::from_be_bytes(*version);
    if version > versions.read_max {
        return Err(DecodeError::Newer { version });
    }
    let record = match version {
        0 => Err(DecodeError::Malformed),
        #[cfg(any(test, feature = "test-versions"))]
        second::VERSION if *magic == COUNTER_MAGIC => second::decode(body).map(Record::Counter),
        _ if *magic == IDENTITY_MAGIC => decode_body(body).map(Record::Identity),
        _ => decode_body(body).map(Record::Counter),
    }?;
    Ok(Found { record, version })
}

/// Reads one value and nothing after it.
fn decode_body<'b, T: Decode<'b, ()>>(body: &'b [u8]) -> Result<T, DecodeError> {
    let mut decoder = minicbor::Decoder::new(body);
    let value = decoder.decode().map_err(|_| DecodeError::Malformed)?;
    if decoder.position() == body.len() { Ok(value) } else { Err(DecodeError::Malformed) }
}

const IDENTITY_MAGIC: [u8; 8] = *b"TANISTid";
const COUNTER_MAGIC: [u8; 8] = *b"TANISTct";
/// Magic, version, length and checksum.
const FRAME_LENGTH: usize = 8 + 2 + 4 + 4;

/// A second version of the counter's body, so that tests can play two releases with one program: it
/// has a field that must not be skipped.
#[cfg(any(test, feature = "test-versions"))]
mod second {
    use super::{Decode, DecodeError, Encode, StoreId, decode_body};

    pub(super) const VERSION: u16 = 2;

    #[derive(Encode, Decode)]
    pub(super) struct CounterRecord {
        #[n(0)]
        store: StoreId,
        #[n(1)]
        sequence: u64,
        #[n(2)]
        counter: u64,
        /// All bits of the counter the other way round.
        #[n(3)]
        complement: u64,
    }

    impl From<super::CounterRecord> for CounterRecord {
        fn from(record: super::CounterRecord) -> Self {
            let super::CounterRecord { store, sequence, counter } = record;
            Self { store, sequence, counter, complement: !counter }
        }
    }

    pub(super) fn decode(body: &[u8]) -> Result<super::CounterRecord, DecodeError> {
        let CounterRecord { store, sequence, counter, complement } = decode_body(body)?;
        let is_sound = complement == !counter;
        let record = super::CounterRecord { store, sequence, counter };
        if is_sound { Ok(record) } else { Err(DecodeError::Malformed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: u16 = Versions::RELEASE.written;
    const BOTH: Versions = Versions { read_max: 2, written: 1 };

    const STORE: StoreId = StoreId([7; 16]);

    const IDENTITY_BYTES: &str = "\
        54414e4953546964000100000026845007070707070707070707070707070707036762696c6c\
        696e67820c1b17979cfe362a0000de73057e";
    const COUNTER_BYTES: &str = "\
        54414e495354637400010000001d83500707070707070707070707070707070718281bffffff\
        fffffffffeedd4ac6a";

    fn identity() -> Record {
        let lock = LockMark { inode: 12, born: Some(1_700_000_000_000_000_000) };
        Record::Identity(IdentityRecord { store: STORE, node: 3, group: "billing".into(), lock })
    }

    fn counter() -> Record {
        Record::Counter(CounterRecord { store: STORE, sequence: 40, counter: u64::MAX - 1 })
    }

    #[test]
    fn what_is_written_is_read_back() {
        for record in [identity(), counter()] {
            assert_eq!(decode(&record.encode()), Ok(record));
        }
    }

    /// Bytes that other releases wrote, and read.
    #[test]
    fn the_bytes_of_both_records_are_the_recorded_ones() {
        for (record, recorded) in [(identity(), IDENTITY_BYTES), (counter(), COUNTER_BYTES)] {
            let bytes: String = record.encode().iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(bytes, recorded);
        }
    }

    #[test]
    fn every_prefix_every_flipped_bit_and_every_added_byte_is_refused() {
        for bytes in [identity().encode(), counter().encode()] {
            for length in 0..bytes.len() {
                assert!(decode(&bytes[..length]).is_err(), "prefix of {length}");
            }
            for bit in 0..bytes.len() * 8 {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                let error = decode(&flipped).expect_err("a flipped bit");
                let is_newer = matches!(error, DecodeError::Newer { .. });
                assert!(!is_newer, "bit {bit} is taken for a newer version");
            }
            for byte in 0..=u8::MAX {
                let added = [&bytes[..], &[byte]].concat();
                assert!(matches!(decode(&added), Err(DecodeError::Length { .. })), "added {byte}");
            }
        }
    }

    #[test]
    fn every_two_flipped_bits_of_a_counter_are_refused() {
        let bytes = counter().encode();
        for first in 0..bytes.len() * 8 {
            for second in first + 1..bytes.len() * 8 {
                let mut flipped = bytes.clone();
                flipped[first / 8] ^= 1 << (first % 8);
                flipped[second / 8] ^= 1 << (second % 8);
                assert!(decode(&flipped).is_err(), "bits {first} and {second}");
            }
        }
    }

    #[test]
    fn a_newer_version_is_named_and_version_zero_is_not_one() {
        let body = minicbor::to_vec(CounterRecord::unused(STORE)).unwrap();
        let newer = frame(COUNTER_MAGIC, 2, &body);
        assert_eq!(decode(&newer), Err(DecodeError::Newer { version: 2 }));
        assert_eq!(decode(&frame(COUNTER_MAGIC, 0, &body)), Err(DecodeError::Malformed));
    }

    #[test]
    fn both_versions_are_read_by_a_program_that_knows_both() {
        for record in [identity(), counter()] {
            for version in [1, 2] {
                let bytes = record.encode_as(version);
                let found = Found { record: record.clone(), version };
                assert_eq!(decode_as(&bytes, BOTH), Ok(found));
            }
            let newer = Err(DecodeError::Newer { version: 2 });
            assert_eq!(decode(&record.encode_as(2)), newer);
        }
    }

    #[test]
    fn a_record_is_replaced_in_its_version_or_a_later_one() {
        let next = Versions { read_max: 2, written: 2 };
        assert_eq!([1, 2].map(|found| BOTH.replacing(found)), [1, 2]);
        assert_eq!([1, 2].map(|found| next.replacing(found)), [2, 2]);
    }

    #[test]
    fn a_field_that_was_added_later_is_skipped() {
        #[derive(Encode)]
        struct Grown {
            #[n(0)]
            store: StoreId,
            #[n(1)]
            sequence: u64,
            #[n(2)]
            counter: u64,
            #[n(3)]
            remark: &'static str,
        }
        let grown = Grown { store: STORE, sequence: 2, counter: 5, remark: "from later" };
        let bytes = frame(COUNTER_MAGIC, VERSION, &minicbor::to_vec(grown).unwrap());
        let expected = CounterRecord { store: STORE, sequence: 2, counter: 5 };
        assert_eq!(decode(&bytes), Ok(Record::Counter(expected)));
    }

    #[test]
    fn a_body_that_is_cut_or_has_more_behind_it_is_refused() {
        let body = minicbor::to_vec(CounterRecord::unused(STORE)).unwrap();
        let more = [&body[..], &[0]].concat();
        for body in [&body[..body.len() - 1], &more, &[]] {
            let bytes = frame(COUNTER_MAGIC, VERSION, body);
            assert_eq!(decode(&bytes), Err(DecodeError::Malformed), "{body:?}");
        }
    }

    #[test]
    fn a_lock_is_told_from_its_copy_by_inode_or_by_birth() {
        let mark = LockMark { inode: 12, born: Some(5) };
        assert!(mark.is_same_file(mark));
        assert!(!mark.is_same_file(LockMark { inode: 13, ..mark }));
        assert!(!mark.is_same_file(LockMark { born: Some(6), ..mark }));
        assert!(mark.is_same_file(LockMark { born: None, ..mark }));
    }
}
