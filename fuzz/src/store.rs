//! Records of the store: a record is read as what was written, or not at all.

use arbitrary::{Result, Unstructured};
use tanist::store::record::{
    CounterRecord, DecodeError, IdentityRecord, LockMark, Record, StoreId, decode,
};

/// Checks bytes as a file, as the body of a file, and as damage to one.
pub fn check(bytes: &[u8]) {
    read(bytes);
    // Too few bytes for all that was to be drawn from them: nothing is left to check.
    let _ = sealed(&mut Unstructured::new(bytes));
    let _ = damaged(&mut Unstructured::new(bytes));
}

/// A value that was read is written so that it is read again, in the shortest form. Bytes need not
/// come back: fields that a later version added are skipped.
fn read(bytes: &[u8]) {
    if let Ok(record) = decode(bytes) {
        let written = record.encode();
        assert_eq!(decode(&written), Ok(record));
        assert!(written.len() <= bytes.len(), "{written:02x?} is longer than {bytes:02x?}");
    }
}

/// Any body in a right frame with a right checksum: no checksum protects from a defect of ours.
fn sealed(source: &mut Unstructured<'_>) -> Result<()> {
    let magic = if source.arbitrary()? { b"TANISTid" } else { b"TANISTct" };
    let version = source.int_in_range(0..=2_u16)?;
    let body = source.bytes(source.len())?;
    let length = u32::try_from(body.len()).expect("inputs are short");
    let mut bytes = [&magic[..], &version.to_be_bytes(), &length.to_be_bytes(), body].concat();
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    match decode(&bytes) {
        Ok(_) => assert_eq!(version, 1),
        Err(DecodeError::Newer { version: 2 }) => assert_eq!(version, 2),
        Err(error) => assert_eq!(error, DecodeError::Malformed),
    }
    read(&bytes);
    Ok(())
}

/// One damage of up to four bytes side by side, one cut or one addition: it always shows.
fn damaged(source: &mut Unstructured<'_>) -> Result<()> {
    let record = record(source)?;
    let whole = record.encode();
    assert_eq!(decode(&whole), Ok(record.clone()));
    let mut bytes = whole.clone();
    match source.int_in_range(0..=3)? {
        0 | 1 => {
            let at = source.choose_index(bytes.len())?;
            let pattern: [u8; 4] = source.arbitrary()?;
            for (byte, change) in bytes[at..].iter_mut().zip(pattern) {
                *byte ^= change;
            }
        }
        2 => bytes.truncate(source.choose_index(whole.len() + 1)?),
        _ => bytes.extend_from_slice(source.bytes(source.len())?),
    }
    match decode(&bytes) {
        Ok(read) => assert_eq!(bytes, whole, "damage was read as {read:?} instead of {record:?}"),
        // A damaged version must not send the user for a newer tanist.
        Err(error) => assert!(!matches!(error, DecodeError::Newer { .. }), "{error}"),
    }
    Ok(())
}

fn record(source: &mut Unstructured<'_>) -> Result<Record> {
    let store = StoreId(source.arbitrary()?);
    if source.arbitrary()? {
        let (sequence, counter) = (source.arbitrary()?, source.arbitrary()?);
        return Ok(Record::Counter(CounterRecord { store, sequence, counter }));
    }
    let lock = LockMark { inode: source.arbitrary()?, born: source.arbitrary()? };
    let (node, group) = (source.arbitrary()?, source.arbitrary()?);
    Ok(Record::Identity(IdentityRecord { store, node, group, lock }))
}
