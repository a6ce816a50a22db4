//! What a node sends or receives at one time, which a story tells in one line.

use tanist_core::NodeId;
use tanist_core::trace::{Contents, Entry, Event, MessageFacts};

/// The entries that share a line with this one, itself first: the same message sent or received by
/// the same node at the same time, with no other event of that node in between except losses of
/// what it sent.
pub(super) fn alike(entries: &[Entry], index: usize) -> Vec<usize> {
    let first = &entries[index];
    let mut same = vec![index];
    let Some((speech, _)) = Speech::of(&first.event) else {
        return same;
    };
    let rest = entries.iter().enumerate().skip(index + 1);
    for (later, entry) in rest.take_while(|(_, entry)| entry.at == first.at) {
        if Speech::of(&entry.event).is_some_and(|(other, _)| other == speech) {
            same.push(later);
        } else if entry.event.actor() == Some(speech.node) {
            break;
        }
    }
    same
}

/// What a node sends or receives, without the node at the other end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Speech<'a> {
    node: NodeId,
    way: Way,
    facts: MessageFacts,
    contents: Option<&'a Contents>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Says,
    Hears,
}

impl<'a> Speech<'a> {
    /// The message, and the node at the other end.
    pub(super) fn of(event: &'a Event) -> Option<(Self, NodeId)> {
        let contents = event.contents();
        if let Event::Send { node, to, message, .. } = event {
            return Some((Self { node: *node, way: Way::Says, facts: *message, contents }, *to));
        }
        let Event::Receive { node, from, message, .. } = event else { return None };
        Some((Self { node: *node, way: Way::Hears, facts: *message, contents }, *from))
    }
}
