//! Nodes that are not in the next group, and why they count as lost: from what this node knows.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tanist::{NodeId, PeerSign};
use tanist_core::Time;

use super::json_form;
use crate::terminal::moment;

/// A node that was in the last group and is not in this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(
    serialize = "N: AsRef<str> + Serialize",
    deserialize = "N: From<String> + Deserialize<'de>"
))]
pub(crate) struct LostNode<N = NodeId> {
    /// Which.
    pub(crate) node: N,
    /// What speaks for its loss.
    pub(crate) evidence: Evidence,
    /// How long nothing had come from it when this node left the last group.
    #[serde(rename = "silent_ms", with = "json_form::optional_millis")]
    pub(crate) silent: Option<Duration>,
}

/// What speaks for the loss of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Evidence {
    /// It said that it withdraws or leaves.
    Farewell,
    /// Its port refused a connection: no process listens there.
    ConnectionRefused,
    /// Nothing came from it for longer than the detector waits.
    Silence,
    /// None here: another node formed a group without it.
    None,
}

impl Evidence {
    /// The word for it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Farewell => "farewell",
            Self::ConnectionRefused => "connection-refused",
            Self::Silence => "silence",
            Self::None => "no-evidence",
        }
    }
}

/// What a node knew of its peers when it left a group, and when it was in the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signs<'a> {
    pub(super) left_at: Time,
    pub(super) before: &'a [PeerSign],
    pub(super) after: &'a [PeerSign],
    pub(super) farewells: &'a [NodeId],
    /// Silence that is suspicious.
    pub(super) suspect_after: Duration,
}

impl Signs<'_> {
    /// Why a node counts as lost.
    pub(super) fn judge(&self, node: NodeId) -> LostNode {
        let find = |signs: &[PeerSign]| signs.iter().find(|sign| sign.peer == node).copied();
        let (before, after) = (find(self.before), find(self.after));
        let is_refused = [before, after].into_iter().flatten().any(|sign| sign.is_refused);
        let heard = before.or(after).and_then(|sign| sign.heard);
        let silent = heard.map(|heard| self.left_at.since(heard.min(self.left_at)));
        let evidence = match silent {
            _ if self.farewells.contains(&node) => Evidence::Farewell,
            _ if is_refused => Evidence::ConnectionRefused,
            Some(silent) if silent >= self.suspect_after => Evidence::Silence,
            Some(_) | None => Evidence::None,
        };
        LostNode { node, evidence, silent }
    }
}

impl<N> LostNode<N> {
    /// The same with the node in another form.
    pub(super) fn with_node<M>(&self, convert: impl Fn(&N) -> M) -> LostNode<M> {
        LostNode { node: convert(&self.node), evidence: self.evidence, silent: self.silent }
    }

    /// How long before the group was left its last sign of life was: a closed connection is one,
    /// and the group is left when that is noticed.
    pub(super) fn unnoticed(&self) -> Duration {
        match self.evidence {
            Evidence::Farewell | Evidence::ConnectionRefused => Duration::ZERO,
            Evidence::Silence | Evidence::None => self.silent.unwrap_or_default(),
        }
    }
}

impl<N: fmt::Display> fmt::Display for LostNode<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, evidence, silent } = self;
        let heard = silent.map(|silent| format!("last heard {} before", moment::span(silent)));
        let heard = heard.unwrap_or_else(|| "never heard".to_owned());
        match evidence {
            Evidence::Farewell => write!(f, "{node} said farewell"),
            Evidence::ConnectionRefused => {
                write!(f, "{node} is dead: connection refused, {heard}")
            }
            Evidence::Silence => {
                write!(f, "{node} was silent for {}", moment::span(silent.unwrap_or_default()))
            }
            Evidence::None => write!(f, "{node} is not in the new group, {heard}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Time {
        Time::from_micros(millis * 1000)
    }

    fn judge(before: PeerSign, after: PeerSign, farewells: &[NodeId]) -> LostNode {
        let (before, after) = ([before], [after]);
        let (left_at, suspect_after) = (at(5000), Duration::from_secs(1));
        Signs { left_at, before: &before, after: &after, farewells, suspect_after }.judge(NodeId(3))
    }

    fn sign(heard: u64, is_refused: bool) -> PeerSign {
        PeerSign { peer: NodeId(3), heard: Some(at(heard)), is_refused }
    }

    #[test]
    fn a_refused_connection_names_a_dead_node_also_if_it_was_noticed_late() {
        let lost = judge(sign(4700, false), sign(4700, true), &[]);
        assert_eq!(lost.evidence, Evidence::ConnectionRefused);
        assert_eq!(lost.to_string(), "n3 is dead: connection refused, last heard 300.0 ms before");
        assert_eq!(lost.unnoticed(), Duration::ZERO, "the end of its link was its last sign");
    }

    #[test]
    fn silence_counts_from_the_last_sign_of_life_also_if_the_node_is_heard_again() {
        let lost = judge(sign(2900, false), sign(5010, false), &[]);
        assert_eq!(lost.evidence, Evidence::Silence);
        assert_eq!(lost.to_string(), "n3 was silent for 2.1 s");
        assert_eq!(lost.unnoticed(), Duration::from_millis(2100));
    }

    #[test]
    fn a_node_that_said_farewell_or_was_left_out_is_not_called_dead() {
        let lost = judge(sign(4990, false), sign(4990, true), &[NodeId(3)]);
        assert_eq!(lost.evidence, Evidence::Farewell);
        let lost = judge(sign(4990, false), sign(5005, false), &[]);
        assert_eq!(lost.evidence, Evidence::None);
        assert_eq!(lost.to_string(), "n3 is not in the new group, last heard 10.0 ms before");
    }
}
