//! G-14, B-47: no process wins while a better one could have answered.
//!
//! A better process counts if it has been up since the winner called its election, is running, and
//! can be reached: one that started later is left to the next election, and so is one that still
//! recalls its own group numbers.

use tanist_core::trace::{Event, Outcome};
use tanist_core::{NodeId, NodeSet, Time};

use super::{Interest, Monitor, Violation, mix};
use crate::observe::global_state::GlobalState;

#[derive(Clone, Default)]
pub(crate) struct BestWins {
    /// Each caller of an election, and the better processes that have been up ever since.
    calls: Vec<(NodeId, NodeSet)>,
}

impl Monitor for BestWins {
    fn id(&self) -> &'static str {
        "G-14"
    }

    fn memory(&self) -> u64 {
        let calls = self.calls.iter().map(|(caller, better)| {
            let better = better.iter().map(|node| u64::from(node.0));
            mix(&std::iter::once(u64::from(caller.0)).chain(better).collect::<Vec<_>>())
        });
        calls.fold(0, u64::wrapping_add)
    }

    fn interest(&self) -> Interest {
        Interest::MILESTONE.and(Interest::FAULT)
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        if let Event::Call { node } = event {
            self.calls.retain(|(caller, _)| caller != node);
            let live = global.live().filter(|view| !view.is_recalling).map(|view| view.id);
            let better = live.filter(|id| global.members.outranks(*id, *node)).collect();
            self.calls.push((*node, better));
        } else if let Event::Crash { node } | Event::Withdraw { node } | Event::Overdue { node } =
            event
        {
            self.calls.retain(|(caller, _)| caller != node);
            for (_, better) in &mut self.calls {
                better.remove(*node);
            }
        } else if let Event::End { node, outcome } = event {
            let at = self.calls.iter().position(|(caller, _)| caller == node)?;
            let (_, better) = self.calls.swap_remove(at);
            return match outcome {
                Outcome::Won => reachable(global, *node, &better),
                Outcome::Yielded | Outcome::Failed => None,
            };
        }
        None
    }
}

fn reachable(global: &GlobalState, winner: NodeId, better: &NodeSet) -> Option<Violation> {
    let better = better.iter().find(|id| {
        global.can_talk(*id, winner) && global.view(*id).is_some_and(|view| !view.is_paused)
    })?;
    Some(Violation {
        nodes: vec![winner, better],
        why: format!("{winner} wins although {better} has been up all the time"),
    })
}
