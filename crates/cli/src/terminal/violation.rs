//! A violated assertion in a line.

use tanist_core::NodeId;
use tanist_sim::observe::observers::Violated;

use crate::terminal::output::plain;

/// Which, when, who, why.
pub(crate) fn line(violated: &Violated) -> String {
    format!("{} violated {}", violated.assertion, place(violated))
}

/// When, who, why.
pub(crate) fn place(violated: &Violated) -> String {
    let Violated { at, violation, .. } = violated;
    format!("at {at}, {}: {}", names(&violation.nodes), plain(&violation.why))
}

fn names(nodes: &[NodeId]) -> String {
    let names: Vec<String> = nodes.iter().map(ToString::to_string).collect();
    if names.is_empty() { "all nodes".to_owned() } else { names.join(" ") }
}
