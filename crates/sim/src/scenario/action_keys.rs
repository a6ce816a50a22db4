//! Which keys each action of a `[[fault]]` takes; the others would be ignored and are refused.
//!
//! Leaves out the keys that say when a fault is due.

use std::ops::Range;

use toml::Spanned;

use super::faults::FaultLine;
use super::parse::{Reader, ScenarioError};

impl Reader<'_> {
    /// Refuses a key that the action would ignore.
    pub(super) fn check_keys(&self, line: &FaultLine) -> Result<(), ScenarioError> {
        let name = line.action.as_ref().as_str();
        let Some((_, allowed)) = ACTIONS.iter().find(|(action, _)| *action == name) else {
            return Ok(());
        };
        let mut given = line.keys().into_iter();
        let Some((key, span)) = given.find(|(key, _)| !allowed.contains(key)) else {
            return Ok(());
        };
        let allowed: Vec<String> = allowed.iter().map(|key| format!("`{key}`")).collect();
        let takes = if allowed.is_empty() {
            "it takes no keys of its own".to_owned()
        } else {
            format!("it takes {}", allowed.join(", "))
        };
        Err(self.error(&span, format!("`{name}` has no `{key}`; {takes}; leave `{key}` out")))
    }

    /// Refuses a node that is its own peer, a link from a node to itself, a crash after nothing.
    pub(super) fn check_ends(&self, line: &FaultLine) -> Result<(), ScenarioError> {
        let name = line.action.as_ref();
        if let (Some(node), Some(peer)) = (&line.node, &line.peer)
            && node.as_ref() == peer.as_ref()
        {
            let what =
                format!("`{name}` needs another node as `peer`; {} is `node`", node.as_ref());
            return Err(self.error(&peer.span(), what));
        }
        if let Some(([node, _], span)) = line.pairs().find(|([a, b], _)| a == b) {
            let what = format!("there is no link from {node} to itself; name two nodes");
            return Err(self.error(&span, what));
        }
        match &line.effects {
            Some(effects) if *effects.as_ref() == 0 => {
                let what = "`effects` counts from 1; for a crash without any step, leave it out";
                Err(self.error(&effects.span(), what.to_owned()))
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl FaultLine {
    /// The keys of its action that are given, and where.
    fn keys(&self) -> Vec<(&'static str, Range<usize>)> {
        let all = [
            ("node", span(&self.node)),
            ("peer", span(&self.peer)),
            ("effects", span(&self.effects)),
            ("lost_writes", span(&self.lost_writes)),
            ("sides", span(&self.sides)),
            ("links", span(&self.links)),
            ("one_way", span(&self.one_way)),
            ("by", span(&self.by)),
            ("hold", span(&self.hold)),
            ("value", span(&self.value)),
            ("rate", span(&self.rate)),
            ("to", span(&self.to)),
            ("over", span(&self.over)),
        ];
        all.into_iter().filter_map(|(name, span)| Some((name, span?))).collect()
    }
}

pub(super) fn number(given: &Option<Spanned<u32>>) -> Option<u32> {
    given.as_ref().map(|given| *given.as_ref())
}

pub(super) fn span<T>(given: &Option<Spanned<T>>) -> Option<Range<usize>> {
    given.as_ref().map(Spanned::span)
}

/// Every fault by its name in a file, with the keys that it takes.
pub(super) const ACTIONS: &[(&str, &[&str])] = &[
    ("crash", &["node", "effects"]),
    ("restart", &["node", "lost_writes"]),
    ("forget", &["node", "lost_writes"]),
    ("pause", &["node"]),
    ("resume", &["node"]),
    ("hang", &["node"]),
    ("unhang", &["node"]),
    ("cut", &["sides", "links", "one_way"]),
    ("heal", &["sides", "links", "one_way"]),
    ("slow", &["node", "by"]),
    ("clock", &["node", "rate"]),
    ("loss", &["rate"]),
    ("duplicate", &["rate"]),
    ("calm", &[]),
    ("call", &["node"]),
    ("check", &["node"]),
    ("timeout", &["node"]),
    ("refuse", &["node", "peer"]),
    ("withdraw", &["node", "hold"]),
    ("hand-over", &["node", "peer"]),
    ("rejoin", &["node"]),
    ("pause-elections", &["node"]),
    ("resume-elections", &["node"]),
    ("priority", &["node", "value"]),
    ("move", &["node", "to", "over"]),
];
