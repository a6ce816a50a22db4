//! The tables of a scenario file with rules for particular messages: `[[message]]`.

use std::fmt::{self, Write};
use std::ops::Range;

use serde::Deserialize;
use tanist_core::NodeId;
use tanist_core::duration;

use super::Scenario;
use super::parse::{Named, Reader, ScenarioError, Text};
use crate::world::network::{Fate, Rule};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageLine {
    pub(super) from: Option<u32>,
    pub(super) to: Option<u32>,
    pub(super) kind: Option<Text>,
    pub(super) nth: Option<u32>,
    pub(super) delay: Option<Text>,
    #[serde(default)]
    pub(super) drop: bool,
}

impl Named for MessageLine {
    fn nodes(&self) -> Vec<u32> {
        self.from.into_iter().chain(self.to).collect()
    }
}

impl Reader<'_> {
    pub(super) fn rule(
        &self,
        line: &MessageLine,
        span: &Range<usize>,
    ) -> Result<Rule, ScenarioError> {
        let fate = match (&line.delay, line.drop) {
            (Some(delay), false) => Fate::Delay(self.duration(delay)?),
            (None, true) => Fate::Drop,
            (Some(_), true) | (None, false) => {
                let what = "expected either `delay` or `drop = true`".to_owned();
                return Err(self.error(span, what));
            }
        };
        if line.nth == Some(0) {
            return Err(self.error(span, "`nth` counts from 1".to_owned()));
        }
        if line.from.is_some() && line.from == line.to {
            let what = "no node sends messages to itself; `from` and `to` differ".to_owned();
            return Err(self.error(span, what));
        }
        Ok(Rule {
            from: line.from.map(NodeId),
            to: line.to.map(NodeId),
            kind: line.kind.as_ref().map(|kind| self.kind(kind)).transpose()?,
            nth: line.nth,
            fate,
            seen: 0,
        })
    }
}

impl Scenario {
    pub(super) fn write_rules(&self, to: &mut String) -> fmt::Result {
        for rule in &self.rules {
            writeln!(to, "\n[[message]]")?;
            write_rule(to, rule)?;
        }
        Ok(())
    }
}

pub(super) fn write_rule(to: &mut String, rule: &Rule) -> fmt::Result {
    if let Some(from) = rule.from {
        writeln!(to, "from = {}", from.0)?;
    }
    if let Some(node) = rule.to {
        writeln!(to, "to = {}", node.0)?;
    }
    if let Some(kind) = rule.kind {
        writeln!(to, "kind = {:?}", kind.name())?;
    }
    if let Some(nth) = rule.nth {
        writeln!(to, "nth = {nth}")?;
    }
    match rule.fate {
        Fate::Drop => writeln!(to, "drop = true"),
        Fate::Delay(delay) => writeln!(to, "delay = {:?}", duration::print(delay)),
    }
}
