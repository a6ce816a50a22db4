//! Reports and definitions of the application: opaque bytes that are cheap to clone.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use minicbor::decode::{self, Decoder};
use minicbor::encode::{self, Encoder, Write};
use minicbor::{Decode, Encode};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The task state that a coordinator hands to its group.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Definition(Arc<[u8]>);

/// What a participant hands up when it stops: partial results.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Report(Arc<[u8]>);

macro_rules! opaque {
    ($name:ident) => {
        impl $name {
            /// The bytes, as the application gave them.
            #[must_use]
            pub fn as_bytes(&self) -> &[u8] {
                &self.0
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self(Arc::from([]))
            }
        }

        impl From<&[u8]> for $name {
            fn from(bytes: &[u8]) -> Self {
                Self(Arc::from(bytes))
            }
        }

        impl From<Vec<u8>> for $name {
            fn from(bytes: Vec<u8>) -> Self {
                Self(Arc::from(bytes))
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(Arc::from(text.as_bytes()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match core::str::from_utf8(&self.0) {
                    Ok(text) => f.write_str(text),
                    Err(_) => {
                        f.write_str("0x")?;
                        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
                    }
                }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                String::deserialize(from).map(|text| Self::from(text.as_str()))
            }
        }

        impl<C> Encode<C> for $name {
            fn encode<W: Write>(
                &self,
                to: &mut Encoder<W>,
                _: &mut C,
            ) -> Result<(), encode::Error<W::Error>> {
                to.bytes(&self.0)?.ok()
            }
        }

        impl<'bytes, C> Decode<'bytes, C> for $name {
            fn decode(from: &mut Decoder<'bytes>, _: &mut C) -> Result<Self, decode::Error> {
                from.bytes().map(Self::from)
            }
        }
    };
}

opaque!(Definition);
opaque!(Report);

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn text_is_shown_as_text_and_other_bytes_in_hexadecimal() {
        assert_eq!(Definition::from("plan 7").to_string(), "plan 7");
        assert_eq!(Report::from(&[0xff, 0x00][..]).to_string(), "0xff00");
    }

    #[test]
    fn what_the_application_gave_is_what_it_gets() {
        let bytes = alloc::vec![1, 2, 3];
        assert_eq!(Definition::from(bytes.clone()).as_bytes(), bytes);
        assert_eq!(Definition::from(bytes.clone()), Definition::from(&bytes[..]));
    }
}
