//! What the simulator knows of each algorithm, one file for each family.
//!
//! A new algorithm is one file here, and one line in [`STUDIES`].

mod adhoc;
mod bully;
mod bully_lecture;
mod invitation;
mod ring;
mod super_peer;

use tanist_core::election::Algorithm;
use tanist_core::trace::Header;

use crate::monitors::{
    DefinitionOnlyInReorganization, GroupAgreesOnCoordinator, GroupAgreesOnDefinition,
    MembersAccepted, Monitor, OneGroupEach, Selection, StopBeforeAcknowledge,
};
use crate::studies::fuzz::FuzzModel;
use crate::studies::sweep::Case;

/// What the simulator knows of an algorithm.
pub struct Study {
    /// Which algorithm.
    pub algorithm: Algorithm,
    /// What it promises of all nodes together: monitors in the order in which verdicts are listed.
    pub monitors: fn(&Header, Selection) -> Vec<Box<dyn Monitor>>,
    /// What it promises of each group.
    pub inside: Inside,
    /// Which worlds the fuzzer draws for it.
    pub fuzz: FuzzModel,
    /// What is counted and compared with theory.
    pub(crate) sweeps: &'static [Case],
    /// Whether a node may follow a coordinator that it outranks.
    pub follows_lower: bool,
    /// Whether one candidate asks every node to stop, so that none works on under the old coordinator.
    pub halts_all: bool,
    /// Whether messages go one way round a ring, and names are compared and nothing else.
    pub only_compares: bool,
}

/// What an algorithm promises of each of its groups. Super-peers promise the same of each peer group.
pub struct Inside {
    /// Monitors, in the order in which verdicts are listed.
    pub monitors: fn(Selection) -> Vec<Box<dyn Monitor>>,
    /// Whether any two nodes have the same coordinator and definition, within the model (V-04).
    pub is_safe: bool,
}

/// One study for each algorithm, in the order of [`Algorithm::ALL`].
pub const STUDIES: &[&Study] = &[
    &bully::STUDY,
    &bully_lecture::STUDY,
    &invitation::STUDY,
    &ring::CHANG_ROBERTS,
    &ring::MODIFIED,
    &ring::LIST,
    &ring::ACTIVE_LIST,
    &adhoc::EXPANDING_RING,
    &adhoc::DIFFUSING,
    &super_peer::STUDY,
];

/// The study of an algorithm.
#[must_use]
pub fn study(algorithm: Algorithm) -> &'static Study {
    let mut all = STUDIES.iter();
    all.find(|study| study.algorithm == algorithm).expect("a test: every algorithm has a study")
}

impl Inside {
    /// An algorithm whose groups have no definition.
    const NOTHING: Self = Self { monitors: |_| Vec::new(), is_safe: false };
}

/// What every algorithm promises of a group that hands over a definition.
fn of_each_group() -> Vec<Box<dyn Monitor>> {
    vec![
        Box::new(GroupAgreesOnCoordinator),
        Box::new(GroupAgreesOnDefinition),
        Box::new(StopBeforeAcknowledge),
        Box::new(OneGroupEach),
        Box::new(DefinitionOnlyInReorganization),
        Box::new(MembersAccepted::default()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_has_one_study_in_the_order_of_the_list() {
        let studied: Vec<Algorithm> = STUDIES.iter().map(|study| study.algorithm).collect();
        assert_eq!(studied, Algorithm::ALL);
    }
}
