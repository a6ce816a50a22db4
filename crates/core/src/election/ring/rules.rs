//! What differs between the rings: how an election begins, and the state that it keeps.
//!
//! Everything else is common to all rings. Leaves out: what a token of each ring does, which is in
//! the file of that ring.

use super::active_list::Active;
use super::listing::{self, Orphans};
use super::{Ring, chang_roberts, list, modified};
use crate::config::GroupConfig;
use crate::election::Algorithm;
use crate::group::Counter;
use crate::membership::NodeId;
use crate::options::Options;
use crate::protocol::{Context, Effects};

/// A ring's own rule, with the state that only this rule has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Rule {
    /// The highest candidacy completes the round.
    ChangRoberts,
    /// A list is signed, then the result is told.
    List {
        /// How the two rounds work.
        rules: listing::Rules,
        /// The highest initiator whose message this node has seen in this election (E-32).
        initiator: Option<NodeId>,
    },
    /// Every name goes round.
    ActiveList(Active),
}

impl Rule {
    /// The rule of the configured ring.
    pub(super) fn of(config: &GroupConfig) -> Self {
        let mut rings = RINGS.iter();
        let ring = rings
            .find(|ring| ring.algorithm == config.algorithm())
            .expect("only the algorithms in this table are rings");
        (ring.rule)(config.options())
    }

    /// Discards the state of the last election.
    pub(super) fn begin(&mut self, number: Counter) {
        match self {
            Self::ChangRoberts => {}
            Self::List { initiator, .. } => *initiator = None,
            Self::ActiveList(active) => active.begin(number),
        }
    }

    /// Whether a message whose sender crashed circulates without end, and all wait for it.
    pub(super) fn is_endless(&self, cx: &Context<'_>) -> bool {
        let options = cx.config.options();
        match self {
            Self::ChangRoberts => {
                options.ring_chang_roberts.orphans == chang_roberts::Orphans::Literal
            }
            Self::List { rules, .. } => rules.orphans == Orphans::Literal,
            Self::ActiveList(_) => false,
        }
    }
}

impl Ring {
    /// Sends what an election of this ring begins with.
    pub(super) fn begin_own(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        match self.rule {
            Rule::ChangRoberts => self.send_candidacy(cx, out),
            Rule::List { .. } => self.send_list(cx, out),
            Rule::ActiveList(_) => self.send_name(cx, out),
        }
    }

    /// How lists are read; none in a ring without lists.
    pub(super) const fn list_rules(&self) -> Option<listing::Rules> {
        match &self.rule {
            Rule::List { rules, .. } => Some(*rules),
            Rule::ChangRoberts | Rule::ActiveList(_) => None,
        }
    }

    /// What the active-list ring keeps; none in another ring.
    pub(super) const fn active(&self) -> Option<&Active> {
        match &self.rule {
            Rule::ActiveList(active) => Some(active),
            Rule::ChangRoberts | Rule::List { .. } => None,
        }
    }

    /// The same, mutable.
    pub(super) const fn active_mut(&mut self) -> Option<&mut Active> {
        match &mut self.rule {
            Rule::ActiveList(active) => Some(active),
            Rule::ChangRoberts | Rule::List { .. } => None,
        }
    }
}

/// One of the rings.
struct Known {
    algorithm: Algorithm,
    rule: fn(&Options) -> Rule,
}

/// The rings, each with the rule that its options make.
const RINGS: &[Known] = &[
    Known { algorithm: Algorithm::RingChangRoberts, rule: |_| Rule::ChangRoberts },
    Known {
        algorithm: Algorithm::RingModified,
        rule: |options| list_rule(modified::rules(options.ring_modified)),
    },
    Known {
        algorithm: Algorithm::RingList,
        rule: |options| list_rule(list::rules(options.ring_list)),
    },
    Known { algorithm: Algorithm::RingActiveList, rule: |_| Rule::ActiveList(Active::default()) },
];

const fn list_rule(rules: listing::Rules) -> Rule {
    Rule::List { rules, initiator: None }
}
