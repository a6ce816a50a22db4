//! in a maximal set of nodes that can communicate, eventually some node is Normal and its own
//! coordinator, and all others are Normal under it.
//!
//! Where "can communicate" is not transitive no assignment satisfies this (E-27), so it is checked
//! for components that are cliques; other components are skipped. The literal reading checks every
//! component.

use tanist_core::trace::{Event, Header};
use tanist_core::{NodeSet, Time};

use super::all_under_one::out_of_line;
use super::settled::Settled;
use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct OneGroupPerClique {
    settled: Settled,
    is_literal: bool,
}

impl OneGroupPerClique {
    pub(crate) fn new(header: &Header, is_literal: bool) -> Self {
        Self { settled: Settled::new(header), is_literal }
    }

    fn concerned(&self, global: &GlobalState) -> Vec<NodeSet> {
        let mut components = global.components();
        components.retain(|component| self.is_literal || global.is_clique(component));
        components
    }
}

impl Monitor for OneGroupPerClique {
    fn id(&self) -> &'static str {
        "A-4"
    }

    fn interest(&self) -> Interest {
        Interest::STATE.and(Interest::FAULT)
    }

    fn see(&mut self, global: &GlobalState, at: Time, _event: &Event) -> Option<Violation> {
        // Relapses are tracked for a whole network only; the end is judged for every component.
        if global.is_whole() {
            let live: NodeSet = global.live().map(|view| view.id).collect();
            let is_good = out_of_line(global, &live).is_none();
            self.settled.note(at, global.disturbed_at, is_good);
        }
        None
    }

    fn finish(&mut self, global: &GlobalState, at: Time) -> Option<Violation> {
        for component in self.concerned(global) {
            if let Some((node, why)) = out_of_line(global, &component) {
                return Some(Violation { nodes: vec![node], why });
            }
        }
        let relapses = global.is_whole() && self.settled.is_relapsing(at);
        (relapses && self.is_applicable(global)).then(|| Violation {
            nodes: global.live().map(|view| view.id).collect(),
            why: "every agreement was given up again within a check period".to_owned(),
        })
    }

    fn is_about_the_end(&self) -> bool {
        true
    }

    fn is_settled(&self, global: &GlobalState) -> bool {
        self.concerned(global).iter().all(|component| out_of_line(global, component).is_none())
    }

    fn is_applicable(&self, global: &GlobalState) -> bool {
        !self.concerned(global).is_empty()
    }
}
