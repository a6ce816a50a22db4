//! Integers in as few bytes as they need: seven bits a byte, lowest first; the eighth bit says that
//! more follow.

/// Adds a number to the bytes.
pub fn write(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// Reads a number and advances; zero at the end of input.
pub fn read(from: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    while let Some((byte, rest)) = from.split_first() {
        *from = rest;
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

/// Maps small numbers of either sign to small unsigned numbers.
#[must_use]
pub const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// The inverse.
#[must_use]
pub const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let values = [0, 1, 127, 128, 300, 1 << 40, u64::MAX >> 1];
        let mut bytes = Vec::new();
        values.iter().for_each(|value| write(&mut bytes, *value));
        let mut rest = bytes.as_slice();
        assert!(values.iter().all(|value| read(&mut rest) == *value));
        assert!(rest.is_empty());
        assert!([0, 1, -1, 77, -300].iter().all(|value| unzigzag(zigzag(*value)) == *value));
    }
}
