//! The tables of a scenario file that say which assertions are checked and how the run must end:
//! `[assertions]` and `[expect]`.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::time::Duration;

use serde::Deserialize;
use tanist_core::duration;
use tanist_core::{Membership, NodeId, Status};
use toml::Spanned;

use super::Scenario;
use super::parse::{Reader, ScenarioError, Text};
use super::unknown::unknown;
use crate::monitors::{self, IDS, Selection};

/// The expected outcome of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// Exactly these assertions are violated.
    pub breaks: Vec<String>,
    /// All live nodes are Normal under this coordinator.
    pub coordinator: Option<NodeId>,
    /// The expected state of particular nodes.
    pub nodes: Vec<ExpectNode>,
    /// How many messages were sent.
    pub messages: Option<u64>,
    /// How many messages of some kinds.
    pub by_kind: BTreeMap<String, u64>,
    /// How many elections were won.
    pub elections: Option<u64>,
    /// When the last change of state was.
    pub settled: Option<Duration>,
    /// Every fault happened, and every rule for messages decided about one.
    pub all_faults: bool,
}

/// The expected state of a node at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectNode {
    /// Which.
    pub id: NodeId,
    /// Its status.
    pub status: Option<Status>,
    /// Its coordinator.
    pub coordinator: Option<NodeId>,
    /// Its group's counter and node, as `4.n3`.
    pub group: Option<String>,
    /// A part of its definition's text.
    pub definition: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AssertionsTable {
    pub(super) cuts: Option<Spanned<bool>>,
    literal_a4: Option<Spanned<bool>>,
    #[serde(default)]
    pub(super) beyond_model: bool,
    #[serde(default)]
    pub(super) steady: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectTable {
    #[serde(default)]
    pub(super) breaks: Vec<Text>,
    pub(super) coordinator: Option<Spanned<u32>>,
    #[serde(default)]
    pub(super) node: Vec<ExpectLine>,
    pub(super) messages: Option<u64>,
    #[serde(default)]
    pub(super) by_kind: BTreeMap<Spanned<String>, u64>,
    pub(super) elections: Option<u64>,
    pub(super) settled: Option<Text>,
    #[serde(default)]
    pub(super) all_faults: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectLine {
    pub(super) id: Spanned<u32>,
    pub(super) status: Option<Text>,
    pub(super) coordinator: Option<Spanned<u32>>,
    pub(super) group: Option<String>,
    pub(super) definition: Option<String>,
}

impl AssertionsTable {
    pub(super) fn selection(&self) -> Selection {
        let is_on = |given: &Option<Spanned<bool>>| given.as_ref().is_some_and(|on| *on.as_ref());
        Selection {
            has_cuts: is_on(&self.cuts),
            is_literal_a4: is_on(&self.literal_a4),
            is_beyond_model: self.beyond_model,
            is_steady: self.steady,
        }
    }
}

impl Reader<'_> {
    /// Refuses to change an assertion that is not checked for the scenario's algorithm.
    pub(super) fn check_selection(
        &self,
        table: Option<&AssertionsTable>,
        scenario: &Scenario,
    ) -> Result<(), ScenarioError> {
        let Some(table) = table else { return Ok(()) };
        let algorithm = scenario.settings.algorithm;
        let monitors = monitors::all(algorithm, table.selection(), &scenario.header(1));
        for (name, given, id) in
            [("cuts", &table.cuts, "B-42"), ("literal_a4", &table.literal_a4, "A-4")]
        {
            let is_checked = monitors.iter().any(|monitor| monitor.id() == id);
            if let Some(on) = given.as_ref().filter(|on| *on.as_ref() && !is_checked) {
                let name_of = algorithm.name();
                let what = format!("`{name}` is about {id}, which {name_of} has not; leave it out");
                return Err(self.error(&on.span(), what));
            }
        }
        Ok(())
    }

    pub(super) fn expect(
        &self,
        table: Option<ExpectTable>,
        members: &Membership,
    ) -> Result<Expect, ScenarioError> {
        let Some(table) = table else { return Ok(Expect::default()) };
        let named =
            table.node.iter().flat_map(|line| [&line.id].into_iter().chain(&line.coordinator));
        let named = named.chain(&table.coordinator);
        for node in named {
            self.known(*node.as_ref(), members, &node.span())?;
        }
        for id in &table.breaks {
            if !IDS.contains(&id.as_ref().as_str()) {
                let what = unknown("assertion", id.as_ref(), IDS.iter().copied());
                return Err(self.error(&id.span(), what));
            }
        }
        let mut by_kind = BTreeMap::new();
        for (kind, count) in table.by_kind {
            by_kind.insert(self.kind(&kind)?.name().to_owned(), count);
        }
        let nodes = table.node.into_iter().map(|line| {
            Ok(ExpectNode {
                id: NodeId(line.id.into_inner()),
                status: line.status.as_ref().map(|status| self.status(status)).transpose()?,
                coordinator: line.coordinator.map(|node| NodeId(node.into_inner())),
                group: line.group,
                definition: line.definition,
            })
        });
        Ok(Expect {
            breaks: table.breaks.into_iter().map(Spanned::into_inner).collect(),
            coordinator: table.coordinator.map(|node| NodeId(node.into_inner())),
            nodes: nodes.collect::<Result<_, _>>()?,
            messages: table.messages,
            by_kind,
            elections: table.elections,
            settled: table.settled.as_ref().map(|text| self.duration(text)).transpose()?,
            all_faults: table.all_faults,
        })
    }
}

impl Scenario {
    pub(super) fn write_assertions(&self, to: &mut String) -> fmt::Result {
        let selection = self.selection;
        if selection != Selection::STANDARD {
            writeln!(to, "\n[assertions]\ncuts = {}", selection.has_cuts)?;
            writeln!(to, "literal_a4 = {}", selection.is_literal_a4)?;
            writeln!(to, "beyond_model = {}", selection.is_beyond_model)?;
            if selection.is_steady {
                writeln!(to, "steady = true")?;
            }
        }
        Ok(())
    }

    pub(super) fn write_expect(&self, to: &mut String) -> fmt::Result {
        let expect = &self.expect;
        if *expect == Expect::default() {
            return Ok(());
        }
        writeln!(to, "\n[expect]")?;
        if !expect.breaks.is_empty() {
            writeln!(to, "breaks = {:?}", expect.breaks)?;
        }
        if let Some(coordinator) = expect.coordinator {
            writeln!(to, "coordinator = {}", coordinator.0)?;
        }
        if let Some(messages) = expect.messages {
            writeln!(to, "messages = {messages}")?;
        }
        if let Some(elections) = expect.elections {
            writeln!(to, "elections = {elections}")?;
        }
        if let Some(settled) = expect.settled {
            writeln!(to, "settled = {:?}", duration::print(settled))?;
        }
        if expect.all_faults {
            writeln!(to, "all_faults = true")?;
        }
        if !expect.by_kind.is_empty() {
            let kinds = expect.by_kind.iter().map(|(kind, count)| format!("{kind} = {count}"));
            writeln!(to, "by_kind = {{ {} }}", kinds.collect::<Vec<_>>().join(", "))?;
        }
        expect.nodes.iter().try_for_each(|node| write_expected(to, node))
    }
}

fn write_expected(to: &mut String, node: &ExpectNode) -> fmt::Result {
    writeln!(to, "\n[[expect.node]]\nid = {}", node.id.0)?;
    if let Some(status) = node.status {
        writeln!(to, "status = \"{status}\"")?;
    }
    if let Some(coordinator) = node.coordinator {
        writeln!(to, "coordinator = {}", coordinator.0)?;
    }
    if let Some(group) = &node.group {
        writeln!(to, "group = {group:?}")?;
    }
    if let Some(definition) = &node.definition {
        writeln!(to, "definition = {definition:?}")?;
    }
    Ok(())
}
