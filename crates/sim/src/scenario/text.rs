//! Writes a scenario as the file that [`super::parse`] reads.

use std::fmt::{self, Write};
use std::time::Duration;

use tanist_core::policy::Preempt;
use tanist_core::recall::Recall;
use tanist_core::time::micros;
use tanist_core::trace::Link;

use super::radio::{place, write_topology};
use super::{ExpectNode, Scenario};
use crate::world::faults::{Action, Happening, Moment};
use crate::world::network::{Delay, Fate};

impl Scenario {
    /// The text of a file that reads back as this scenario.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, to: &mut String) -> fmt::Result {
        writeln!(to, "name = {:?}", self.name)?;
        writeln!(to, "about = {:?}", self.about)?;
        writeln!(to, "algorithm = {:?}", self.settings.algorithm.name())?;
        writeln!(to, "seed = {}", self.seed)?;
        writeln!(to, "end = {:?}", span(self.end))?;
        if self.stops_at_break {
            writeln!(to, "stop_at_break = true")?;
        }
        if let Some(mutant) = self.settings.mutant {
            writeln!(to, "mutant = {:?}", mutant.name())?;
        }
        match self.settings.recall {
            Recall::Off => {}
            Recall::On => writeln!(to, "recall = true")?,
        }
        match self.settings.preempt {
            Preempt::Always => {}
            Preempt::Never => writeln!(to, "preempt = \"never\"")?,
            Preempt::After(stable) => writeln!(to, "preempt = {:?}", span(stable))?,
        }
        if !self.down.is_empty() {
            let down: Vec<String> = self.down.iter().map(|node| node.0.to_string()).collect();
            writeln!(to, "down = [{}]", down.join(", "))?;
        }
        if !self.steps.is_empty() {
            writeln!(to, "steps = [")?;
            for step in &self.steps {
                writeln!(to, "  \"{step}\",")?;
            }
            writeln!(to, "]")?;
        }
        self.write_nodes(to)?;
        self.write_settings(to)?;
        for group in &self.groups {
            let members: Vec<String> = group
                .members
                .iter()
                .filter(|node| *node != group.coordinator)
                .map(|node| node.0.to_string())
                .collect();
            writeln!(to, "\n[[group]]\ncoordinator = {}", group.coordinator.0)?;
            writeln!(to, "members = [{}]", members.join(", "))?;
            writeln!(to, "counter = {}", group.group.counter)?;
        }
        self.write_faults(to)?;
        self.write_rules(to)?;
        self.write_expect(to)
    }

    fn write_nodes(&self, to: &mut String) -> fmt::Result {
        let all = self.members.all();
        let is_numbered = (1..).zip(all).all(|(i, node)| node.id.0 == i && node.priority.0 == i);
        if is_numbered && self.members.labelled().is_empty() {
            return writeln!(to, "nodes = {}", all.len());
        }
        for node in all {
            writeln!(to, "\n[[node]]\nid = {}\npriority = {}", node.id.0, node.priority.0)?;
            let labels = self.members.labels(node.id);
            if let Some(zone) = labels.zone {
                writeln!(to, "zone = {zone:?}")?;
            }
            if let Some(rack) = labels.rack {
                writeln!(to, "rack = {rack:?}")?;
            }
        }
        Ok(())
    }

    fn write_settings(&self, to: &mut String) -> fmt::Result {
        let changed = self.settings.options.changed(self.settings.algorithm);
        if !changed.is_empty() {
            writeln!(to, "\n[options]")?;
            for (name, value) in changed {
                writeln!(to, "{name} = {value:?}")?;
            }
        }
        let timing = &self.timing;
        writeln!(to, "\n[timing]")?;
        for (name, value) in [
            ("message", Some(timing.message_max)),
            ("processing", Some(timing.processing_max)),
            ("answer", timing.answer),
            ("announcement", timing.announcement),
            ("merge", timing.merge),
            ("silence", timing.silence),
            ("heartbeat", timing.heartbeat),
            ("check", Some(timing.check_every)),
            ("timeout", Some(timing.timeout_every)),
            ("first_check", Some(timing.first_check)),
            ("delay_unit", timing.delay_unit),
            ("jitter", timing.jitter),
        ] {
            if let Some(value) = value {
                writeln!(to, "{name} = {:?}", span(value))?;
            }
        }
        self.write_network(to)?;
        write_topology(to, &self.topology)?;
        if self.pace.stop + self.pace.plan > Duration::ZERO {
            let (stop, plan) = (span(self.pace.stop), span(self.pace.plan));
            writeln!(to, "\n[application]\nstop = {stop:?}\nplan = {plan:?}")?;
        }
        let selection = self.selection;
        if selection != crate::monitors::Selection::STANDARD {
            writeln!(to, "\n[assertions]\ncuts = {}", selection.has_cuts)?;
            writeln!(to, "literal_a4 = {}", selection.is_literal_a4)?;
            writeln!(to, "beyond_model = {}", selection.is_beyond_model)?;
        }
        Ok(())
    }

    fn write_network(&self, to: &mut String) -> fmt::Result {
        writeln!(to, "\n[network]")?;
        match self.conditions.delay {
            Delay::Fixed(delay) => writeln!(to, "delay = {:?}", span(delay))?,
            Delay::Uniform { min, max } => {
                writeln!(to, "delay_min = {:?}\ndelay_max = {:?}", span(min), span(max))?;
            }
            Delay::Spiky { min, max, spike, spike_ppm } => {
                writeln!(to, "delay_min = {:?}\ndelay_max = {:?}", span(min), span(max))?;
                writeln!(to, "spike = {:?}\nspikes = {}", span(spike), share(spike_ppm))?;
            }
        }
        writeln!(to, "fifo = {}", self.conditions.is_fifo)?;
        writeln!(to, "refusals = {}", self.conditions.has_refusals)?;
        writeln!(to, "loss = {}", share(self.conditions.loss_ppm))?;
        writeln!(to, "duplicate = {}", share(self.conditions.duplicate_ppm))
    }

    fn write_faults(&self, to: &mut String) -> fmt::Result {
        for fault in &self.faults {
            writeln!(to, "\n[[fault]]")?;
            match fault.moment {
                Moment::At(at) => {
                    let at = Duration::from_micros(at.as_micros());
                    writeln!(to, "at = {:?}", span(at))?;
                }
                Moment::When { condition, after } => {
                    let (verb, name) = match condition.what {
                        Happening::Enters(status) => ("enters", status.to_string()),
                        Happening::Sends(kind) => ("sends", kind.to_string()),
                        Happening::Receives(kind) => ("receives", kind.to_string()),
                    };
                    let (node, nth) = (condition.node.0, condition.nth);
                    writeln!(to, "when = {{ node = {node}, {verb} = {name:?}, nth = {nth} }}")?;
                    writeln!(to, "after = {:?}", span(after))?;
                }
            }
            write_action(to, &fault.action)?;
        }
        Ok(())
    }

    fn write_rules(&self, to: &mut String) -> fmt::Result {
        for rule in &self.rules {
            writeln!(to, "\n[[message]]")?;
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
                Fate::Drop => writeln!(to, "drop = true")?,
                Fate::Delay(delay) => writeln!(to, "delay = {:?}", span(delay))?,
            }
        }
        Ok(())
    }

    fn write_expect(&self, to: &mut String) -> fmt::Result {
        let expect = &self.expect;
        if *expect == super::Expect::default() {
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
            writeln!(to, "settled = {:?}", span(settled))?;
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

fn write_action(to: &mut String, action: &Action) -> fmt::Result {
    let named = |to: &mut String, name: &str, node: tanist_core::NodeId| {
        writeln!(to, "do = {name:?}\nnode = {}", node.0)
    };
    match action {
        Action::Crash(node) => named(to, "crash", *node),
        Action::CrashAfterEffects(node, effects) => {
            named(to, "crash", *node)?;
            writeln!(to, "effects = {effects}")
        }
        Action::Restart { node, lost_writes } => {
            named(to, "restart", *node)?;
            writeln!(to, "lost_writes = {lost_writes}")
        }
        Action::Forget { node, lost_writes } => {
            named(to, "forget", *node)?;
            writeln!(to, "lost_writes = {lost_writes}")
        }
        Action::Pause(node) => named(to, "pause", *node),
        Action::Resume(node) => named(to, "resume", *node),
        Action::Cut(links) => write_links(to, "cut", links),
        Action::Heal(links) => write_links(to, "heal", links),
        Action::Slow(node, by) => {
            named(to, "slow", *node)?;
            writeln!(to, "by = {:?}", span(*by))
        }
        Action::ClockRate(node, rate) => {
            named(to, "clock", *node)?;
            writeln!(to, "rate = {}", share(*rate))
        }
        Action::Loss(ppm) => writeln!(to, "do = \"loss\"\nrate = {}", share(*ppm)),
        Action::Duplicate(ppm) => writeln!(to, "do = \"duplicate\"\nrate = {}", share(*ppm)),
        Action::Calm => writeln!(to, "do = \"calm\""),
        Action::Call(node) => named(to, "call", *node),
        Action::Check(node) => named(to, "check", *node),
        Action::Suspect(node) => named(to, "timeout", *node),
        Action::Refuse { node, peer } => {
            named(to, "refuse", *node)?;
            writeln!(to, "peer = {}", peer.0)
        }
        Action::StepAside { node, hold } => {
            named(to, "step-aside", *node)?;
            hold.map_or(Ok(()), |hold| writeln!(to, "hold = {:?}", span(hold)))
        }
        Action::Return(node) => named(to, "return", *node),
        Action::PauseElections(node) => named(to, "pause-elections", *node),
        Action::ResumeElections(node) => named(to, "resume-elections", *node),
        Action::Priority { node, value } => {
            named(to, "priority", *node)?;
            writeln!(to, "value = {value}")
        }
        Action::Move { node, to: goal, over } => {
            named(to, "move", *node)?;
            writeln!(to, "to = {}\nover = {:?}", place(*goal), span(*over))
        }
    }
}

fn write_links(to: &mut String, name: &str, links: &[Link]) -> fmt::Result {
    writeln!(to, "do = {name:?}")?;
    if links.is_empty() {
        return Ok(());
    }
    let pairs = links.iter().map(|link| format!("[{}, {}]", link.from.0, link.to.0));
    writeln!(to, "one_way = [{}]", pairs.collect::<Vec<_>>().join(", "))
}

/// A span in the form that a file has it.
#[must_use]
pub fn span(span: Duration) -> String {
    let micros = micros(span);
    if micros.is_multiple_of(1_000_000) {
        format!("{}s", micros / 1_000_000)
    } else if micros.is_multiple_of(1000) {
        format!("{}ms", micros / 1000)
    } else {
        format!("{micros}us")
    }
}

pub(super) fn share(millionths: u32) -> String {
    format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
}
