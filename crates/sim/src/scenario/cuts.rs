//! The links that a `[[fault]]` cuts or heals: `sides`, `links` and `one_way`.

use std::collections::BTreeSet;

use tanist_core::NodeId;
use tanist_core::trace::Link;
use toml::Spanned;

use super::action_keys::span;
use super::faults::FaultLine;
use super::parse::{Reader, ScenarioError};

impl Reader<'_> {
    /// The links of a `cut` or `heal`; none if it names none.
    pub(super) fn links(&self, line: &FaultLine) -> Result<Option<Vec<Link>>, ScenarioError> {
        let spans = [span(&line.sides), span(&line.links), span(&line.one_way)];
        let Some(first) = spans.into_iter().flatten().next() else { return Ok(None) };
        if let Some(sides) = &line.sides {
            self.check_sides(sides)?;
        }
        let links = links(line);
        if links.is_empty() {
            let what = "this list names no link; write pairs of nodes, such as [[1, 3]]";
            return Err(self.error(&first, what.to_owned()));
        }
        Ok(Some(links))
    }

    /// Sides are at least two, none is empty, and a node is on one of them.
    fn check_sides(&self, sides: &Spanned<Vec<Vec<u32>>>) -> Result<(), ScenarioError> {
        let all = sides.as_ref();
        if all.len() < 2 || all.iter().any(Vec::is_empty) {
            let what = "`sides` needs two sides or more, and a node on each, such as [[1, 2], [3]]";
            return Err(self.error(&sides.span(), what.to_owned()));
        }
        let mut seen = BTreeSet::new();
        match all.iter().flatten().find(|node| !seen.insert(**node)) {
            Some(node) => {
                let what = format!("node {node} is in `sides` twice; a node is on one side");
                Err(self.error(&sides.span(), what))
            }
            None => Ok(()),
        }
    }
}

fn links(line: &FaultLine) -> Vec<Link> {
    let link = |from: u32, to: u32| Link { from: NodeId(from), to: NodeId(to) };
    let mut all = Vec::new();
    for [a, b] in line.links.iter().flat_map(Spanned::as_ref) {
        all.push(link(*a, *b));
        all.push(link(*b, *a));
    }
    for [from, to] in line.one_way.iter().flat_map(Spanned::as_ref) {
        all.push(link(*from, *to));
    }
    let sides = line.sides.as_ref().map_or(&[][..], |sides| sides.as_ref().as_slice());
    for (at, side) in sides.iter().enumerate() {
        for (other_at, other) in sides.iter().enumerate() {
            if at != other_at {
                all.extend(side.iter().flat_map(|a| other.iter().map(|b| link(*a, *b))));
            }
        }
    }
    all
}
