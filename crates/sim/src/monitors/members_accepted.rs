//! I-51, B-45: every member that a coordinator counts has accepted this group, and has its
//! definition when the coordinator becomes Normal.

use tanist_core::trace::Event;
use tanist_core::{GroupNumber, NodeId, NodeSet, Status, Time};

use super::{Interest, Monitor, Violation, mix};
use crate::observe::global_state::GlobalState;

/// The nodes that accepted, and that began in, the latest group of each coordinator.
#[derive(Clone, Default)]
pub(crate) struct MembersAccepted {
    groups: Vec<Formation>,
}

#[derive(Clone)]
struct Formation {
    group: GroupNumber,
    accepted: NodeSet,
    begun: NodeSet,
}

impl Monitor for MembersAccepted {
    fn id(&self) -> &'static str {
        "I-51"
    }

    fn memory(&self) -> u64 {
        self.groups
            .iter()
            .map(|known| {
                let members = known.accepted.iter().map(|node| u64::from(node.0));
                let begun = known.begun.iter().map(|node| u64::from(node.0) << 32);
                let head = [u64::from(known.group.node.0), known.group.counter];
                mix(&head.into_iter().chain(members).chain(begun).collect::<Vec<_>>())
            })
            .fold(0, u64::wrapping_add)
    }

    fn interest(&self) -> Interest {
        Interest::SEND.and(Interest::STATE).and(Interest::MILESTONE)
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        if let Event::Send { node, message, .. } | Event::Broadcast { node, message, .. } = event {
            let is_yes = message.kind.info().promises_stop && message.ok != Some(false);
            if let (Some(group), true) = (message.group, is_yes) {
                self.formation(group)?.accepted.insert(*node);
            }
        } else if let Event::Begin { node, group } = event {
            self.formation(*group)?.begun.insert(*node);
        } else if let Event::Plan { node, group } = event {
            let up = global.view(*node)?.state.up.clone();
            let accepted = &self.formation(*group)?.accepted;
            return uncounted(&up, accepted, *node, "did not accept", *group);
        } else if let Event::State { node, state } = event {
            let is_new = global.view(*node)?.was() == Status::Reorganization;
            if state.status != Status::Normal || state.coordinator != Some(*node) || !is_new {
                return None;
            }
            let group = state.group?;
            let begun = &self.formation(group)?.begun;
            return uncounted(&state.up, begun, *node, "has no definition of", group);
        }
        None
    }
}

impl MembersAccepted {
    /// The record of a group; it starts empty when the coordinator forms another one. None for an
    /// older group.
    fn formation(&mut self, group: GroupNumber) -> Option<&mut Formation> {
        let at = self.groups.iter().position(|known| known.group.node == group.node);
        let at = at.unwrap_or_else(|| {
            let none = NodeSet::new();
            self.groups.push(Formation { group, accepted: none.clone(), begun: none });
            self.groups.len() - 1
        });
        let known = &mut self.groups[at];
        if group.counter > known.group.counter {
            *known = Formation { group, accepted: NodeSet::new(), begun: NodeSet::new() };
        }
        (known.group == group).then_some(known)
    }
}

fn uncounted(
    up: &NodeSet,
    counted: &NodeSet,
    coordinator: NodeId,
    what: &str,
    group: GroupNumber,
) -> Option<Violation> {
    let member = up.iter().find(|member| !counted.contains(*member))?;
    Some(Violation {
        nodes: vec![coordinator, member],
        why: format!("{coordinator} counts {member}, which {what} group {group}"),
    })
}
