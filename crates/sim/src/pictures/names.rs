//! What nodes are called in a picture with little room: the middle of a long name is left out.
//!
//! A reader must not take one node for another. So a node has its short form, such as `n3`, where
//! its shortened name would also be that of another node, or where next to nothing would be left.

use std::collections::BTreeMap;

use tanist_core::NodeId;
use tanist_core::membership::NodeNames;

/// The names of nodes, each of a limited length.
pub(super) struct ShortNames {
    by_id: BTreeMap<NodeId, String>,
}

impl ShortNames {
    /// Shortens names to so many characters.
    pub(super) fn new(names: &NodeNames, chars_max: usize) -> Self {
        let mut by_id: BTreeMap<NodeId, String> = names
            .iter()
            .filter_map(|(id, name)| Some((id, shortened(name.as_str(), chars_max)?)))
            .collect();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for name in by_id.values() {
            *counts.entry(name.clone()).or_default() += 1;
        }
        by_id.retain(|_, name| counts[name] == 1);
        Self { by_id }
    }

    /// What a node is called: its name, perhaps shortened, or its short form.
    pub(super) fn of(&self, node: NodeId) -> String {
        self.name(node).map_or_else(|| node.to_string(), str::to_owned)
    }

    /// The name of a node, perhaps shortened; none if it has only its short form.
    pub(super) fn name(&self, node: NodeId) -> Option<&str> {
        self.by_id.get(&node).map(String::as_str)
    }

    /// What several nodes are called, with spaces between.
    pub(super) fn list(&self, nodes: impl IntoIterator<Item = NodeId>) -> String {
        nodes.into_iter().map(|node| self.of(node)).collect::<Vec<_>>().join(" ")
    }

    /// All names, in order of the nodes' ids.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.by_id.values().map(String::as_str)
    }
}

/// The name, or its beginning and its end: numbers of machines are at the end. None where too
/// little of it would be left.
fn shortened(name: &str, chars_max: usize) -> Option<String> {
    let count = name.chars().count();
    if count <= chars_max {
        return Some(name.to_owned());
    }
    if chars_max < CHARS_MIN {
        return None;
    }
    let kept = chars_max - 1;
    let start: String = name.chars().take(kept / 2).collect();
    let end: String = name.chars().skip(count - kept.div_ceil(2)).collect();
    Some(format!("{start}…{end}"))
}

/// A name that is shortened to less does not tell nodes apart.
const CHARS_MIN: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn names(texts: &[&str]) -> NodeNames {
        let named = (1..).map(NodeId).zip(texts).map(|(id, text)| (id, text.parse().unwrap()));
        NodeNames::new(named).unwrap()
    }

    #[test]
    fn a_long_name_keeps_its_beginning_and_its_end() {
        let short = ShortNames::new(&names(&["db-east-1", "database-of-the-east-17"]), 12);
        assert_eq!(short.list([1, 2, 3].map(NodeId)), "db-east-1 datab…ast-17 n3");
        assert!(short.all().all(|name| name.chars().count() <= 12));
    }

    #[test]
    fn names_that_would_look_alike_become_short_forms() {
        let alike = names(&["database-east-blue-1", "database-west-blue-1", "db"]);
        let short = ShortNames::new(&alike, 12);
        assert_eq!(short.list([1, 2, 3].map(NodeId)), "n1 n2 db");
        assert_eq!(ShortNames::new(&alike, 4).list([2, 3].map(NodeId)), "n2 db");
        assert_eq!((short.name(NodeId(1)), short.name(NodeId(3))), (None, Some("db")));
    }
}
