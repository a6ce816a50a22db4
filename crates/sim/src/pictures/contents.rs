//! What a message says, in words: a phrase for the story, a few characters for an arrow.
//!
//! A list is written as lectures draw it: `[3 5 6]`, with bare numbers for nodes that have neither
//! name nor label.

use tanist_core::NodeId;
use tanist_core::trace::Contents;

use super::names::ShortNames;

/// The contents as a phrase that follows the kind of the message; empty if there are none.
pub(super) fn phrase(contents: Option<&Contents>, names: &ShortNames) -> String {
    let Some(contents) = contents else { return String::new() };
    let named =
        contents.coordinator.map(|node| format!(" naming {} as coordinator", names.of(node)));
    let named = named.unwrap_or_default();
    match parts(contents, names).as_slice() {
        [] => named,
        [only] => format!("{named} with {only}"),
        [first @ .., last] => format!("{named} with {} and {last}", first.join(", ")),
    }
}

/// The same as a list, for a tooltip.
pub(super) fn listed(contents: Option<&Contents>, names: &ShortNames) -> String {
    let Some(contents) = contents else { return String::new() };
    let named = contents.coordinator.map(|node| format!("coordinator {}", names.of(node)));
    named.into_iter().chain(parts(contents, names)).map(|part| format!(", {part}")).collect()
}

/// What fits on an arrow: the node that the message is about, and its list.
pub(super) fn brief(contents: Option<&Contents>, names: &ShortNames) -> String {
    let Some(contents) = contents else { return String::new() };
    let Contents {
        candidate,
        coordinator,
        list,
        source: _,
        told: _,
        hops_max: _,
        priority,
        definition: _,
    } = contents;
    let mut text = String::new();
    for node in [candidate, coordinator].into_iter().flatten() {
        text.push_str(&format!(" {}", names.of(*node)));
    }
    if let Some(priority) = priority {
        text.push_str(&format!(" {priority}"));
    }
    match list.as_slice() {
        [] => {}
        [first @ .., last] if list.len() > LISTED_MAX => {
            let shown = bracketed(&first[..LISTED_MAX - 2], names);
            let last = bare(*last, names);
            text.push_str(&format!(" {} … {last}]", shown.trim_end_matches(']')));
        }
        all => text.push_str(&format!(" {}", bracketed(all, names))),
    }
    text
}

/// All contents but the coordinator.
fn parts(contents: &Contents, names: &ShortNames) -> Vec<String> {
    let Contents { candidate, source, list, told, hops_max, priority, definition, coordinator: _ } =
        contents;
    let mut parts = Vec::new();
    for (what, node) in [("candidate", candidate), ("source", source)] {
        parts.extend(node.map(|node| format!("{what} {}", names.of(node))));
    }
    if !list.is_empty() {
        parts.push(format!("the list {}", bracketed(list, names)));
    }
    if !told.is_empty() {
        let told: Vec<NodeId> = told.iter().collect();
        parts.push(format!("{} told so far", bracketed(&told, names)));
    }
    parts.extend(hops_max.map(|hops| format!("a reach of {hops} hop{}", plural(hops))));
    parts.extend(priority.map(|priority| format!("priority {priority}")));
    if let Some(definition) = definition {
        parts.push(format!("definition \"{}\"", shortened(&definition.to_string())));
    }
    parts
}

fn bracketed(nodes: &[NodeId], names: &ShortNames) -> String {
    let words: Vec<String> = nodes.iter().map(|node| bare(*node, names)).collect();
    format!("[{}]", words.join(" "))
}

fn bare(node: NodeId, names: &ShortNames) -> String {
    names.name(node).map_or_else(|| node.0.to_string(), str::to_owned)
}

const fn plural(count: u32) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// A definition, with its end left out if it is long.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(DEFINITION_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

/// More nodes than this of a list are cut short on an arrow.
const LISTED_MAX: usize = 8;
/// More characters than this of a definition are left out.
const DEFINITION_MAX: usize = 32;
