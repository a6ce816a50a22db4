//! What the simulator knows about each algorithm, one file for each family.
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
    MembersAccepted, Monitor, OneGroupEach, Selection, SteadyLeader, StopBeforeAcknowledge,
    YieldBeforeAcknowledge,
};
use crate::studies::fuzz::FuzzModel;
use crate::studies::sweep::Case;

/// What the simulator knows about an algorithm.
pub struct Study {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Its guarantees for all nodes together: monitors in the order in which verdicts are listed.
    pub monitors: fn(&Header, Selection) -> Vec<Box<dyn Monitor>>,
    /// Its guarantees for each group.
    pub inside: Inside,
    /// Which worlds the fuzzer draws for it.
    pub fuzz: FuzzModel,
    /// The message counts that are compared with theory.
    pub(crate) sweeps: &'static [Case],
    /// Whether a node may follow a coordinator that it outranks.
    pub follows_lower: bool,
    /// Whether one candidate stops every node, so that none works on under the old coordinator.
    pub halts_all: bool,
    /// Whether messages go one way round a ring, and only ids are compared.
    pub only_compares: bool,
}

/// The guarantees of an algorithm for each of its groups. Super-peers guarantee the same for each
/// peer group.
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
    &ring::PETERSON,
    &ring::HIRSCHBERG_SINCLAIR,
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

/// That leaders stay, where the run allows to say so.
fn of_leaders(header: &Header, selection: Selection) -> Vec<Box<dyn Monitor>> {
    if selection.is_steady { vec![Box::new(SteadyLeader::new(header))] } else { Vec::new() }
}

/// Whether the highest node takes over, as in the sources.
fn highest_wins(header: &Header) -> bool {
    header.preempt.is_empty()
}

/// The guarantees of every algorithm for a group with a definition.
fn of_each_group() -> Vec<Box<dyn Monitor>> {
    vec![
        Box::new(GroupAgreesOnCoordinator),
        Box::new(GroupAgreesOnDefinition),
        Box::new(StopBeforeAcknowledge),
        Box::new(YieldBeforeAcknowledge),
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
