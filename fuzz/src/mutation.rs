//! What happens to bytes on their way: flipped, cut, prolonged, overwritten.

use arbitrary::{Result, Unstructured};

/// A copy of the bytes with up to eight changes. They may cancel each other out: compare.
pub(crate) fn mutated(source: &mut Unstructured<'_>, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    for _ in 0..source.int_in_range(1..=8)? {
        match source.int_in_range(0..=4)? {
            0 if !bytes.is_empty() => {
                let bit = source.choose_index(bytes.len() * 8)?;
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            1 if !bytes.is_empty() => {
                let at = source.choose_index(bytes.len())?;
                bytes[at] = source.arbitrary()?;
            }
            2 => {
                let length = source.choose_index(bytes.len() + 1)?;
                bytes.truncate(length);
            }
            3 => bytes.extend(source.arbitrary::<[u8; 3]>()?),
            _ => {
                let at = source.choose_index(bytes.len() + 1)?;
                bytes.insert(at, source.arbitrary()?);
            }
        }
    }
    Ok(bytes)
}
