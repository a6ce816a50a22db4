//! What operators call nodes: `db-east-1` beside the short form `n1`.
//!
//! The protocols know nodes by number only. A name is for people: configuration, command line, HTTP,
//! hooks, logs, and pictures of traces. A node without a name is written in its short form, which is
//! always understood, too. A group number keeps the short form: `42.n3`.
//!
//! The nodes of a scenario may have labels instead: names for pictures with fewer rules, such as the
//! `17` of a lecture. Nothing but a trace is read with them.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::NodeId;

/// How long a name can be, in bytes: as long as a label of a host name.
pub const NAME_BYTES_MAX: usize = 63;

/// How long a label can be, in characters.
const LABEL_CHARS_MAX: usize = 16;

/// The name of a node, by the rules for one label of a host name; or what a scenario writes in
/// pictures instead.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeName(Box<str>);

impl NodeName {
    /// The name as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What a scenario calls a node in stories and pictures: a short text, such as a number.
    ///
    /// # Errors
    /// If it is empty, too long, has a space or a control character, or is the short form of a
    /// node.
    pub fn label(text: &str) -> Result<Self, NodeLabelError> {
        let is_allowed = |c: char| !c.is_whitespace() && !c.is_control();
        if text.parse::<NodeId>().is_ok() {
            Err(NodeLabelError::ShortForm)
        } else if text.is_empty() || text.chars().count() > LABEL_CHARS_MAX {
            Err(NodeLabelError::Length)
        } else if !text.chars().all(is_allowed) {
            Err(NodeLabelError::Character)
        } else {
            Ok(Self(text.into()))
        }
    }

    /// Whether it is a label that a name cannot be.
    #[must_use]
    pub fn is_label_only(&self) -> bool {
        self.0.parse::<Self>().is_err()
    }
}

impl FromStr for NodeName {
    type Err = NodeNameError;

    fn from_str(name: &str) -> Result<Self, NodeNameError> {
        let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let has_letter = name.bytes().any(|byte| byte.is_ascii_lowercase());
        if name.parse::<NodeId>().is_ok() {
            Err(NodeNameError::ShortForm)
        } else if name.len() > NAME_BYTES_MAX {
            Err(NodeNameError::Long)
        } else if !name.bytes().all(is_allowed) || name.starts_with('-') || name.ends_with('-') {
            Err(NodeNameError::Character)
        } else if !has_letter {
            Err(NodeNameError::NoLetter)
        } else {
            Ok(Self(name.into()))
        }
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

impl Serialize for NodeName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'text> Deserialize<'text> for NodeName {
    fn deserialize<D: Deserializer<'text>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().or_else(|error| Self::label(&text).map_err(|_| D::Error::custom(error)))
    }
}

/// Why a text is not the label of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NodeLabelError {
    /// It looks like a number of a node.
    #[error("n and a number is the short form of a node; choose another label")]
    ShortForm,
    /// It is empty or long.
    #[error("a label has 1 to {LABEL_CHARS_MAX} characters")]
    Length,
    /// Lists of nodes are written with spaces between.
    #[error("a label has no spaces and no control characters")]
    Character,
}

/// Why a text is not the name of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NodeNameError {
    /// It looks like a number of a node.
    #[error("n and a number is the short form of a node; choose another name")]
    ShortForm,
    /// It is longer than [`NAME_BYTES_MAX`].
    #[error("a name has at most {NAME_BYTES_MAX} characters")]
    Long,
    /// It has a character that a host name cannot have, or begins or ends with a hyphen.
    #[error("a name has letters a to z, digits and hyphens, and no hyphen at either end")]
    Character,
    /// It is empty, or a number.
    #[error("a name has at least one letter")]
    NoLetter,
}

/// The names of the nodes of a group, as far as they have any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeNames {
    by_id: BTreeMap<NodeId, NodeName>,
}

impl NodeNames {
    /// Gives each of these nodes a name.
    ///
    /// # Errors
    /// If two nodes have the same name.
    pub fn new(names: impl IntoIterator<Item = (NodeId, NodeName)>) -> Result<Self, DuplicateName> {
        let by_id: BTreeMap<NodeId, NodeName> = names.into_iter().collect();
        let mut known: BTreeMap<&NodeName, NodeId> = BTreeMap::new();
        for (id, name) in &by_id {
            if let Some(first) = known.insert(name, *id) {
                return Err(DuplicateName { name: name.clone(), first, second: *id });
            }
        }
        Ok(Self { by_id })
    }

    /// Whether no node has a name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// All nodes that have one, in order of number.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &NodeName)> {
        self.by_id.iter().map(|(id, name)| (*id, name))
    }

    /// What a node is called: its name, or its short form.
    #[must_use]
    pub fn of(&self, id: NodeId) -> Named<'_> {
        Named { id, name: self.by_id.get(&id) }
    }

    /// What several nodes are called, with spaces between.
    #[must_use]
    pub fn list(&self, nodes: impl IntoIterator<Item = NodeId>) -> String {
        use alloc::string::ToString;
        let names: Vec<String> = nodes.into_iter().map(|id| self.of(id).to_string()).collect();
        names.join(" ")
    }

    /// The node of this name or short form.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<NodeId> {
        let named = self.by_id.iter().find(|(_, name)| name.as_str() == text);
        named.map(|(id, _)| *id).or_else(|| text.parse().ok())
    }
}

impl Serialize for NodeNames {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(&self.by_id)
    }
}

impl<'text> Deserialize<'text> for NodeNames {
    fn deserialize<D: Deserializer<'text>>(from: D) -> Result<Self, D::Error> {
        Self::new(Vec::<(NodeId, NodeName)>::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// A node as it is written for people.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    id: NodeId,
    name: Option<&'a NodeName>,
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => name.fmt(f),
            None => self.id.fmt(f),
        }
    }
}

/// Two nodes have the same name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{first} and {second} are both called {name}; give each node a name of its own")]
pub struct DuplicateName {
    /// The name.
    pub name: NodeName,
    /// One of them.
    pub first: NodeId,
    /// The other.
    pub second: NodeId,
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn names() -> NodeNames {
        let name = |id, text: &str| (NodeId(id), text.parse().unwrap());
        NodeNames::new([name(1, "db-east-1"), name(3, "db-west-1")]).unwrap()
    }

    #[test]
    fn a_name_follows_the_rules_for_a_label_of_a_host_name() {
        for good in ["a", "db-east-1", "1a", "n", "n1a", "nn1", "n01", &"x".repeat(63)] {
            assert_eq!(good.parse::<NodeName>().unwrap().to_string(), good);
        }
        let wrong = |text: &str| text.parse::<NodeName>().unwrap_err();
        assert_eq!(wrong("n7"), NodeNameError::ShortForm);
        assert_eq!(wrong(&"x".repeat(64)), NodeNameError::Long);
        for text in ["-a", "a-", "a.b", "a_b", "Db", "a b", "zürich", "a=b"] {
            assert_eq!(wrong(text), NodeNameError::Character, "{text}");
        }
        for text in ["", "17", "1-2"] {
            assert_eq!(wrong(text), NodeNameError::NoLetter, "{text}");
        }
    }

    #[test]
    fn a_node_is_called_by_its_name_and_found_by_both_forms() {
        let names = names();
        assert_eq!(names.list([NodeId(1), NodeId(2), NodeId(3)]), "db-east-1 n2 db-west-1");
        for text in ["db-west-1", "n3"] {
            assert_eq!(names.find(text), Some(NodeId(3)));
        }
        assert_eq!(names.find("db-north-1"), None);
    }

    #[test]
    fn a_label_is_any_short_text_without_spaces() {
        for good in ["17", "P", "p17", "Zürich", "x_1"] {
            assert_eq!(NodeName::label(good).unwrap().to_string(), good);
        }
        let wrong = |text: &str| NodeName::label(text).unwrap_err();
        assert_eq!(wrong("n7"), NodeLabelError::ShortForm);
        assert_eq!((wrong(""), wrong(&"x".repeat(17))), (NodeLabelError::Length, wrong("")));
        assert_eq!((wrong("a b"), wrong("a\n")), (NodeLabelError::Character, wrong("\t")));
        assert!(NodeName::label("17").unwrap().is_label_only());
        assert!(!NodeName::label("p17").unwrap().is_label_only());
    }

    #[test]
    fn two_nodes_do_not_share_a_name() {
        let name: NodeName = "db".parse().unwrap();
        let twice = NodeNames::new([(NodeId(2), name.clone()), (NodeId(5), name)]);
        let told = twice.unwrap_err().to_string();
        assert_eq!(told, "n2 and n5 are both called db; give each node a name of its own");
    }
}
