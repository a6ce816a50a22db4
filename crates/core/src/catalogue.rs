//! One catalogue of algorithms: it feeds the command line's help, the lab's menu and the documents.

use crate::election::Algorithm;
use crate::options::OptionInfo;

/// What there is to know of an algorithm before choosing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// Which one.
    pub algorithm: Algorithm,
    /// Its name everywhere.
    pub name: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// The class of network (C-05).
    pub network: &'static str,
    /// What it assumes of time and failures (F-10).
    pub model: &'static str,
    /// What it guarantees under that model.
    pub guarantee: &'static str,
    /// Its options.
    pub options: &'static [OptionInfo],
}

const SYNCHRONOUS: &str =
    "synchronous: messages within Tm, answers within Tp, crash and recovery, no partition";

const RING: &str = "assertions 1 and 2, as for bully: nobody goes on under an old coordinator when a \
                    new one is known; after the last failure all live nodes are Normal under \
                    the highest";

const AD_HOC: &str = "ad hoc, by radio: a node hears whoever is in range, and nodes move";

const UNRELIABLE: &str = "late, lost, doubled and reordered messages, links that come and go in \
                          both directions, crash and recovery with a counter on stable storage";

const COMPONENT: &str = "once links stay as they are, every component has one leader, its best \
                         node, and everybody in it follows it. Until then there may be several, \
                         and no state is handed over";

/// Every algorithm that tanist has.
pub const CATALOGUE: &[Description] = &[
    Description {
        algorithm: Algorithm::Bully,
        name: Algorithm::Bully.name(),
        source: "Garcia-Molina 1982, as in Chow and Johnson 1997, listings 10.16 to 10.21",
        network: "wired, every node reaches every other",
        model: SYNCHRONOUS,
        guarantee: "assertions 1 and 2: one coordinator and one definition among all nodes \
                    that are Reorganization or Normal; after the last failure all live nodes \
                    are Normal under the highest",
        options: Algorithm::Bully.options(),
    },
    Description {
        algorithm: Algorithm::BullyLecture,
        name: Algorithm::BullyLecture.name(),
        source: "the lectures' bully: election, answer, coordinator",
        network: "wired, every node reaches every other",
        model: SYNCHRONOUS,
        guarantee: "at the end every live node has elected the highest live node; two coordinators \
                    may overlap for a message delay, and no state is handed over",
        options: Algorithm::BullyLecture.options(),
    },
    Description {
        algorithm: Algorithm::Invitation,
        name: Algorithm::Invitation.name(),
        source: "Garcia-Molina 1982, as in Chow and Johnson 1997, listings 10.22 to 10.28",
        network: "wired, with partitions",
        model: "asynchronous: late, lost, doubled and reordered messages, partitions, crash and \
                recovery with a counter on stable storage",
        guarantee: "assertions 3 and 4: one coordinator and one definition per group number, \
                    which is never reused; nodes that can all reach each other end in one \
                    group. Several groups may exist at once",
        options: Algorithm::Invitation.options(),
    },
    Description {
        algorithm: Algorithm::RingChangRoberts,
        name: Algorithm::RingChangRoberts.name(),
        source: "Chang and Roberts 1979, as the lectures have it: election, elected",
        network: "wired, a logical ring in which every node reaches every other",
        model: SYNCHRONOUS,
        guarantee: RING,
        options: Algorithm::RingChangRoberts.options(),
    },
    Description {
        algorithm: Algorithm::RingModified,
        name: Algorithm::RingModified.name(),
        source: "the lectures' modified ring: a list of names, confirmed by the coordinator message",
        network: "wired, a logical ring in which every node reaches every other",
        model: SYNCHRONOUS,
        guarantee: RING,
        options: Algorithm::RingModified.options(),
    },
    Description {
        algorithm: Algorithm::RingList,
        name: Algorithm::RingList.name(),
        source: "Tanenbaum's ring: a list of numbers, the highest coordinates",
        network: "wired, a logical ring in which every node reaches every other",
        model: SYNCHRONOUS,
        guarantee: RING,
        options: Algorithm::RingList.options(),
    },
    Description {
        algorithm: Algorithm::RingActiveList,
        name: Algorithm::RingActiveList.name(),
        source: "the active-list ring of the operating-systems slides: elect(i)",
        network: "wired, a logical ring in which every node reaches every other",
        model: SYNCHRONOUS,
        guarantee: RING,
        options: Algorithm::RingActiveList.options(),
    },
    Description {
        algorithm: Algorithm::AdhocExpandingRing,
        name: Algorithm::AdhocExpandingRing.name(),
        source: "the lectures' broadcasts in rings that widen, with rules of our own",
        network: AD_HOC,
        model: UNRELIABLE,
        guarantee: COMPONENT,
        options: Algorithm::AdhocExpandingRing.options(),
    },
    Description {
        algorithm: Algorithm::AdhocDiffusing,
        name: Algorithm::AdhocDiffusing.name(),
        source: "Vasudevan, Kurose and Towsley 2004: a diffusing computation",
        network: AD_HOC,
        model: UNRELIABLE,
        guarantee: COMPONENT,
        options: Algorithm::AdhocDiffusing.options(),
    },
    Description {
        algorithm: Algorithm::SuperPeer,
        name: Algorithm::SuperPeer.name(),
        source: "super-peers: elections in groups of bounded size, and among those they select",
        network: "very large: in groups by rack, zone or hash, as many levels as it takes",
        model: "what the inner algorithm assumes, in each group",
        guarantee: "inside each peer group what the inner algorithm guarantees; after the last \
                    failure every peer has the super-peers of its group, those of each group \
                    above agree on a coordinator, and the top is one node",
        options: Algorithm::SuperPeer.options(),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_is_described_once() {
        assert_eq!(CATALOGUE.len(), Algorithm::ALL.len());
        for (description, algorithm) in CATALOGUE.iter().zip(Algorithm::ALL) {
            assert_eq!(description.algorithm, *algorithm);
            assert_eq!(Algorithm::from_name(description.name), Some(*algorithm));
        }
    }

    #[test]
    fn no_default_is_literal() {
        for description in CATALOGUE {
            for option in description.options {
                assert!(!option.values[0].is_literal, "{} {}", description.name, option.name);
            }
        }
    }
}
