//! What all nodes of a group must be told alike, in a form that two nodes can compare.
//!
//! Nodes with other algorithms, timings, options or lists of members do not make one group: they
//! elect past each other, and both sides find a leader. So a node says in its first message what
//! it was told, and a difference is refused by name at both ends. Addresses are left out, since one
//! machine may be reached in several ways, and so is what may differ from node to node.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tanist_core::membership::NodeNames;
use tanist_core::options::Options;
use tanist_core::{GroupConfig, Membership, Timing};

use crate::digest::{blake2s, hex};

/// The settings of a group as one node was told them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Over everything, so that two nodes need to compare nothing else.
    pub digest: [u8; DIGEST_LENGTH],
    /// `key=value` lines; a long value is replaced by its digest, and options at their default are
    /// left out, since a later version may have more of them.
    pub text: String,
    /// The defaults of all options, by which a line that is left out is told to people.
    pub defaults: String,
    /// What people call the nodes, for messages about peers.
    pub names: Arc<NodeNames>,
}

impl Settings {
    /// What a configuration says about the whole group.
    #[must_use]
    pub fn of(config: &GroupConfig, members: &Membership) -> Self {
        let defaults = Options::default().of(config.algorithm()).into_iter();
        let defaults = defaults.map(|(name, value)| format!("options.{name}={value}\n"));
        let names = Arc::clone(members.names());
        Self { defaults: defaults.collect(), names, ..Self::from_pairs(&pairs(config, members)) }
    }

    fn from_pairs(pairs: &[(String, String)]) -> Self {
        let mut parts: Vec<&[u8]> = Vec::new();
        for (key, value) in pairs {
            parts.extend([key.as_bytes(), value.as_bytes()]);
        }
        let whole = blake2s(&parts);
        let mut digest = [0; DIGEST_LENGTH];
        digest.copy_from_slice(&whole[..DIGEST_LENGTH]);
        let lines = pairs.iter().map(|(key, value)| format!("{key}={}\n", short(value)));
        let (text, names) = (lines.collect(), Arc::default());
        Self { digest, text, defaults: String::new(), names }
    }

    /// Where another node's settings differ, in the order of ours.
    #[must_use]
    pub fn differences(&self, theirs: &str) -> Vec<Difference> {
        let (ours, theirs) = (read(&self.text), read(theirs));
        let defaults = read(&self.defaults);
        let value = |of: &[(&str, &str)], key: &str| {
            let found = of.iter().chain(&defaults).find(|(known, _)| *known == key);
            found.map_or_else(|| "nothing".to_owned(), |(_, value)| (*value).to_owned())
        };
        let mut keys: Vec<&str> = ours.iter().map(|(key, _)| *key).collect();
        keys.extend(theirs.iter().map(|(key, _)| *key).filter(|key| !value_is(&ours, key)));
        keys.into_iter()
            .map(|key| Difference {
                key: key.to_owned(),
                ours: value(&ours, key),
                theirs: value(&theirs, key),
            })
            .filter(|difference| difference.ours != difference.theirs)
            .collect()
    }
}

/// One setting that two nodes were told differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Which, by its key in the configuration; [`WIRE`] and [`NODE`] are no keys of it.
    pub key: String,
    /// What this node was told.
    pub ours: String,
    /// What the other node was told.
    pub theirs: String,
}

/// The name of a difference in the versions of the wire.
pub const WIRE: &str = "wire";
/// The name of a difference between the node that was dialled and the one that answers.
pub const NODE: &str = "node";
/// The name of a difference in the names of the groups.
pub const GROUP: &str = "group";

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, ours, theirs } = self;
        match key.as_str() {
            "algorithm" => write!(f, "it runs {theirs}, this node runs {ours}"),
            _ => write!(f, "it has {key} {theirs}, this node has {ours}"),
        }
    }
}

fn value_is(of: &[(&str, &str)], key: &str) -> bool {
    of.iter().any(|(known, _)| *known == key)
}

fn read(text: &str) -> Vec<(&str, &str)> {
    text.lines().filter_map(|line| line.split_once('=')).collect()
}

fn pairs(config: &GroupConfig, members: &Membership) -> Vec<(String, String)> {
    let timing = config.timing();
    let mut pairs = vec![("algorithm".to_owned(), config.algorithm().name().to_owned())];
    let options = config.options().changed(config.algorithm()).into_iter();
    pairs.extend(options.map(|(name, value)| (format!("options.{name}"), value.to_owned())));
    let peers: Vec<String> = members.all().iter().map(|member| member.id.to_string()).collect();
    let priorities: Vec<String> =
        members.all().iter().map(|member| format!("{}:{}", member.id, member.priority.0)).collect();
    let rest = [
        ("timing.message_max", span(timing.message_max())),
        ("timing.processing_max", span(timing.processing_max())),
        ("timing.heartbeat", timing.heartbeat().map_or_else(|| "none".to_owned(), span)),
        ("timing.suspect_after", span(timing.suspect_after())),
        ("timing.check_every", span(timing.check_every())),
        // Those that no file names: derived, or given by a program.
        ("timing.others", others(timing)),
        ("peers", peers.join(" ")),
        ("priorities", priorities.join(" ")),
        ("zones and racks", labels(members)),
    ];
    // A group without names compares none, as releases that know of none do.
    let named = (!members.names().is_empty()).then(|| ("names", names(members)));
    let all = config.compared().into_iter().chain(rest).chain(named);
    pairs.extend(all.map(|(key, value)| (key.to_owned(), value)));
    pairs
}

fn labels(members: &Membership) -> String {
    let labelled = members.labelled().iter();
    let all: Vec<String> = labelled
        .map(|(node, labels)| {
            let zone = labels.zone.as_ref().map(ToString::to_string).unwrap_or_default();
            let rack = labels.rack.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{node}:{zone}/{rack}")
        })
        .collect();
    if all.is_empty() { "none".to_owned() } else { all.join(" ") }
}

fn names(members: &Membership) -> String {
    let names = members.names();
    let all: Vec<String> = names.iter().map(|(id, name)| format!("{id}:{name}")).collect();
    all.join(" ")
}

fn others(timing: &Timing) -> String {
    let all = [
        timing.answer(),
        timing.announcement(),
        timing.merge(),
        timing.timeout_every(),
        timing.first_check(),
        timing.delay_unit(),
        timing.jitter(),
    ];
    all.map(span).join(" ")
}

fn span(span: Duration) -> String {
    format!("{span:?}")
}

/// A value that fits into a message of the handshake.
fn short(value: &str) -> String {
    if value.len() <= VALUE_MAX && !value.contains('\n') {
        return value.to_owned();
    }
    let count = value.split(' ').count();
    format!("{count} of digest {}", hex(&blake2s(&[value.as_bytes()])[..8]))
}

/// The length of the digest: no two settings with the same one can be found.
pub const DIGEST_LENGTH: usize = 16;
/// Room for the members of a group of ten; all values together fit into a message.
const VALUE_MAX: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        Settings::from_pairs(&pairs.iter().map(own).collect::<Vec<_>>())
    }

    #[test]
    fn a_difference_is_named_with_both_values() {
        let ours = settings(&[("algorithm", "invitation"), ("timing.heartbeat", "250ms")]);
        let theirs = settings(&[("algorithm", "bully"), ("timing.heartbeat", "250ms")]);
        assert_ne!(ours.digest, theirs.digest);
        let told: Vec<String> =
            ours.differences(&theirs.text).iter().map(ToString::to_string).collect();
        assert_eq!(told, ["it runs bully, this node runs invitation"]);
        assert_eq!(ours.differences(&ours.text), []);
    }

    #[test]
    fn a_key_that_only_one_side_knows_is_a_difference() {
        let ours = settings(&[("a", "1")]);
        let theirs = settings(&[("a", "1"), ("b", "2")]);
        let told = ours.differences(&theirs.text)[0].to_string();
        assert_eq!(told, "it has b 2, this node has nothing");
        let told = theirs.differences(&ours.text)[0].to_string();
        assert_eq!(told, "it has b nothing, this node has 2");
    }

    #[test]
    fn an_option_that_only_one_side_has_changed_is_told_with_the_default_of_the_other() {
        let defaults = "options.waits=early\n".to_owned();
        let ours = Settings { defaults, ..settings(&[("algorithm", "bully")]) };
        let theirs = settings(&[("algorithm", "bully"), ("options.waits", "full")]);
        let told = ours.differences(&theirs.text)[0].to_string();
        assert_eq!(told, "it has options.waits full, this node has early");
    }

    #[test]
    fn a_long_value_is_replaced_by_its_digest_and_still_compared_as_a_whole() {
        let long = |last: &str| format!("{} {last}", "n1:1 ".repeat(100));
        let ours = settings(&[("members", &long("n2:2"))]);
        let theirs = settings(&[("members", &long("n2:3"))]);
        assert!(ours.text.len() < 100, "{}", ours.text);
        assert_ne!(ours.digest, theirs.digest);
        assert_eq!(ours.differences(&theirs.text).len(), 1);
    }
}
