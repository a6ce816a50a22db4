//! I-07: group numbers are unique, change at every formation, and are never reused.

use tanist_core::trace::Event;
use tanist_core::{GroupNumber, NodeId, Time};

use super::{Interest, Monitor, Violation, mix};
use crate::observe::global_state::GlobalState;

/// The highest number that each node has used, with the incarnation it was used in.
#[derive(Clone, Default)]
pub(crate) struct UniqueNumbers {
    used: Vec<Used>,
}

#[derive(Clone)]
struct Used {
    node: NodeId,
    counter: u64,
    incarnation: u32,
    /// Whether the application was asked for a plan under this number.
    is_planned: bool,
}

impl Monitor for UniqueNumbers {
    fn id(&self) -> &'static str {
        "I-07"
    }

    fn memory(&self) -> u64 {
        self.used
            .iter()
            .map(|used| {
                let planned = u64::from(used.is_planned);
                mix(&[u64::from(used.node.0), used.counter, u64::from(used.incarnation), planned])
            })
            .fold(0, u64::wrapping_add)
    }

    fn interest(&self) -> Interest {
        Interest::SEND.and(Interest::MILESTONE)
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        if let Event::Send { node, message, .. } | Event::Broadcast { node, message, .. } = event {
            let group = message.group?;
            let forms = message.kind.info().forms_group && group.node == *node;
            return if forms { self.use_number(global, group) } else { None };
        }
        if let Event::Begin { node, group } = event {
            return if group.node == *node { self.use_number(global, *group) } else { None };
        }
        let Event::Plan { group, .. } = event else { return None };
        let violation = self.use_number(global, *group);
        let used = self.used.iter_mut().find(|used| used.node == group.node)?;
        if violation.is_some() {
            return violation;
        }
        if used.is_planned {
            let why = format!("group {group} is formed twice");
            return Some(Violation { nodes: vec![group.node], why });
        }
        used.is_planned = true;
        None
    }
}

impl UniqueNumbers {
    fn use_number(&mut self, global: &GlobalState, group: GroupNumber) -> Option<Violation> {
        let incarnation = global.view(group.node)?.incarnations;
        let Some(used) = self.used.iter_mut().find(|used| used.node == group.node) else {
            let (node, counter) = (group.node, group.counter);
            self.used.push(Used { node, counter, incarnation, is_planned: false });
            return None;
        };
        let is_reused = group.counter < used.counter
            || (group.counter == used.counter && incarnation != used.incarnation);
        if is_reused {
            let why = format!("{} uses number {group}, which was used before", group.node);
            return Some(Violation { nodes: vec![group.node], why });
        }
        if group.counter > used.counter {
            (used.counter, used.incarnation, used.is_planned) = (group.counter, incarnation, false);
        }
        None
    }
}
