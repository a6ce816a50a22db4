//! What differs between the rings: how an election begins, and the state that it keeps.
//!
//! Everything else is common to all rings. Leaves out: what a token of each ring does, which is in
//! the file of that ring.

use super::active_list::{Active, Order};
use super::hirschberg_sinclair::{self, Campaign};
use super::listing::{self, Orphans};
use super::order::{Elect, Line};
use super::peterson::Contest;
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
    /// Candidates compare with the two before them.
    Peterson(Contest),
    /// Candidates probe both sides.
    HirschbergSinclair(Campaign),
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
            Self::Peterson(contest) => contest.begin(number),
            Self::HirschbergSinclair(campaign) => *campaign = Campaign::default(),
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
            Self::HirschbergSinclair(_) => {
                options.ring_hirschberg_sinclair.orphans == hirschberg_sinclair::Orphans::Literal
            }
            Self::ActiveList(_) | Self::Peterson(_) => false,
        }
    }

    /// How many times messages may go round, one after the other, in a ring of so many nodes: until
    /// there is a winner, and with the result.
    pub(super) fn rounds(&self, nodes: u32) -> u32 {
        match self {
            Self::ChangRoberts | Self::List { .. } | Self::ActiveList(_) => 3,
            // Two for each phase, of which each halves the candidates; one more to wake all nodes,
            // one for the last candidate, and one for the result.
            Self::Peterson(_) => 2 * nodes.max(1).ilog2() + 3,
            // There and back in each phase whose probes do not go round; one more to wake all
            // nodes, one for the probe of the winner, and one for the result.
            Self::HirschbergSinclair(_) => 2 * nodes.max(1).next_power_of_two().ilog2() + 3,
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
            Rule::Peterson(_) => self.send_bid(cx, out),
            Rule::HirschbergSinclair(_) => self.send_probes(cx, out),
        }
    }

    /// How lists and results are read; none in a ring without them.
    pub(super) const fn list_rules(&self) -> Option<listing::Rules> {
        match &self.rule {
            Rule::List { rules, .. } => Some(*rules),
            Rule::Peterson(_) => Some(listing::Rules::OF_RESULTS),
            Rule::ChangRoberts | Rule::ActiveList(_) | Rule::HirschbergSinclair(_) => None,
        }
    }

    /// What the active-list ring keeps; none in another ring.
    pub(super) const fn active(&self) -> Option<&Active> {
        match &self.rule {
            Rule::ActiveList(active) => Some(active),
            Rule::ChangRoberts
            | Rule::List { .. }
            | Rule::Peterson(_)
            | Rule::HirschbergSinclair(_) => None,
        }
    }

    /// The same, mutable.
    pub(super) const fn active_mut(&mut self) -> Option<&mut Active> {
        match &mut self.rule {
            Rule::ActiveList(active) => Some(active),
            Rule::ChangRoberts
            | Rule::List { .. }
            | Rule::Peterson(_)
            | Rule::HirschbergSinclair(_) => None,
        }
    }

    /// The links that keep names in order; none in a ring that needs no order.
    pub(super) const fn line(&self) -> Option<&Line> {
        match &self.rule {
            Rule::ActiveList(active) => Some(&active.line),
            Rule::Peterson(contest) => Some(&contest.line),
            Rule::ChangRoberts | Rule::List { .. } | Rule::HirschbergSinclair(_) => None,
        }
    }

    /// The same, mutable.
    pub(super) const fn line_mut(&mut self) -> Option<&mut Line> {
        match &mut self.rule {
            Rule::ActiveList(active) => Some(&mut active.line),
            Rule::Peterson(contest) => Some(&mut contest.line),
            Rule::ChangRoberts | Rule::List { .. } | Rule::HirschbergSinclair(_) => None,
        }
    }

    /// Whether names are taken in the order in which they were sent.
    pub(super) fn order(&self, cx: &Context<'_>) -> Order {
        let options = cx.config.options();
        match self.rule {
            Rule::Peterson(_) => options.ring_peterson.order,
            Rule::ActiveList(_)
            | Rule::ChangRoberts
            | Rule::List { .. }
            | Rule::HirschbergSinclair(_) => options.ring_active_list.order,
        }
    }

    /// What this ring does with a name.
    pub(super) fn take_any(&mut self, cx: &mut Context<'_>, elect: Elect, out: &mut Effects<Self>) {
        match self.rule {
            Rule::ActiveList(_) => self.take_name(cx, elect, out),
            Rule::Peterson(_) => self.take_bid(cx, elect, out),
            Rule::ChangRoberts | Rule::List { .. } | Rule::HirschbergSinclair(_) => {}
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
    Known { algorithm: Algorithm::RingPeterson, rule: |_| Rule::Peterson(Contest::new()) },
    Known {
        algorithm: Algorithm::RingHirschbergSinclair,
        rule: |_| Rule::HirschbergSinclair(Campaign::default()),
    },
];

const fn list_rule(rules: listing::Rules) -> Rule {
    Rule::List { rules, initiator: None }
}
