//! A broken assertion in a line.

use tanist_core::NodeId;
use tanist_sim::observe::observers::Broken;

use crate::terminal::output::plain;

/// Which, when, who, why.
pub(crate) fn line(broken: &Broken) -> String {
    format!("{} broken {}", broken.assertion, place(broken))
}

/// When, who, why.
pub(crate) fn place(broken: &Broken) -> String {
    let Broken { at, breach, .. } = broken;
    format!("at {at}, {}: {}", names(&breach.nodes), plain(&breach.why))
}

fn names(nodes: &[NodeId]) -> String {
    let names: Vec<String> = nodes.iter().map(ToString::to_string).collect();
    if names.is_empty() { "all nodes".to_owned() } else { names.join(" ") }
}
