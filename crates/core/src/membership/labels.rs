//! Labels: the zone and the rack of a node.
//!
//! Labels group the peers of a very large network, and keep super-peers apart. A label is a short
//! name that is stored inline, so that a node's labels are as cheap to copy as numbers. Leaves out:
//! what a zone or a rack is; equal names mean the same place.

use core::fmt;
use core::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How long a label can be, in bytes.
pub const LABEL_BYTES_MAX: usize = 16;

/// The name of a place, of 1 to 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label {
    bytes: [u8; LABEL_BYTES_MAX],
    length: u8,
}

impl Label {
    /// The name as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let bytes = &self.bytes[..usize::from(self.length)];
        // A label is made from valid UTF-8 only.
        core::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl FromStr for Label {
    type Err = LabelError;

    fn from_str(name: &str) -> Result<Self, LabelError> {
        let length = name.len();
        if length == 0 || length > LABEL_BYTES_MAX {
            return Err(LabelError { length });
        }
        let mut bytes = [0; LABEL_BYTES_MAX];
        bytes[..length].copy_from_slice(name.as_bytes());
        let length = u8::try_from(length).map_err(|_| LabelError { length })?;
        Ok(Self { bytes, length })
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

impl Serialize for Label {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'text> Deserialize<'text> for Label {
    fn deserialize<D: Deserializer<'text>>(from: D) -> Result<Self, D::Error> {
        let name = alloc::string::String::deserialize(from)?;
        name.parse().map_err(D::Error::custom)
    }
}

/// Why a text is not a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a zone or rack has a name of 1 to {LABEL_BYTES_MAX} bytes and this one has {length}, so its \
     nodes cannot be placed; give a shorter name, the same for all nodes of the place"
)]
pub struct LabelError {
    /// How long the text is.
    pub length: usize,
}

/// The labels of a node, as far as they are configured.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Labels {
    /// Its zone: nodes that rarely fail together.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub zone: Option<Label>,
    /// Its rack: nodes that fail together more often.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rack: Option<Label>,
}

impl Labels {
    /// Whether it has no label.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.zone.is_none() && self.rack.is_none()
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn a_label_is_the_text_it_was_made_from() {
        let label: Label = "zürich-1".parse().unwrap();
        assert_eq!(label.to_string(), "zürich-1");
        assert_ne!(label, "zürich-2".parse().unwrap());
        assert_eq!("x".repeat(LABEL_BYTES_MAX).parse::<Label>().unwrap().as_str().len(), 16);
    }

    #[test]
    fn an_empty_and_a_long_label_are_refused_with_the_bound() {
        assert_eq!("".parse::<Label>(), Err(LabelError { length: 0 }));
        let error = "x".repeat(17).parse::<Label>().unwrap_err();
        assert!(error.to_string().contains("1 to 16 bytes"), "{error}");
    }
}
