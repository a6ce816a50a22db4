//! What an exploration found, for people and for programs.

use std::fmt::{self, Write};

use serde_json::{Value, json};
use tanist_check::{Bounds, CheckReport, CheckSpec, Exploration, Limit, Order};
use tanist_sim::pictures::story;

use crate::terminal::output;
use crate::terminal::table::{Table, left, right};

/// For people: the counterexample as a story, every property, how much was visited.
pub(super) fn text(spec: &CheckSpec, report: &CheckReport) -> Result<String, fmt::Error> {
    let mut text = String::new();
    if let Some(example) = &report.counterexample {
        let trace = &example.report.recording;
        story::story(&trace.header, &trace.entries, &mut text)?;
        writeln!(text, "One microsecond is one step here; only the order means anything.\n")?;
        writeln!(text, "STEPS")?;
        for step in &example.scenario.steps {
            writeln!(text, "  {step}")?;
        }
        writeln!(text)?;
    }
    let mut table = Table::new([left("PROPERTY"), left("VERDICT"), right("STEPS"), left("WHY")]);
    for property in &report.properties {
        let steps = property.trace_length.map_or_else(|| "-".to_owned(), |n| n.to_string());
        let verdict = property.verdict.name().to_owned();
        table.row([property.id.to_owned(), verdict, steps, output::plain(&property.why)]);
    }
    write!(text, "{table}")?;
    let visited = &report.exploration;
    let end = if visited.is_complete { "complete" } else { "NOT complete" };
    writeln!(
        text,
        "\n{} states, {} steps, {} deep, {end} within the bounds; \
         {} ended at a bound or a violation, and {} lead to such an end before any good state",
        visited.states, visited.transitions, visited.depth, visited.at_bound, visited.unsure,
    )?;
    if let Some(limit) = visited.limit {
        writeln!(text, "{}", bounded(limit, visited))?;
    }
    let name = spec.assumption.name();
    writeln!(text, "{} nodes, {name}, at most {}", spec.nodes, bounds(spec))?;
    Ok(text)
}

/// What ended the exploration early, and what was visited by then.
fn bounded(limit: Limit, visited: &Exploration) -> String {
    let Exploration { states, depth_complete, .. } = visited;
    format!(
        "bounded: --{} ended it; {states} states explored, depth {depth_complete} complete. \
         No run of at most {depth_complete} steps violates more than what is listed",
        name(limit)
    )
}

/// The flag that sets a limit.
const fn name(limit: Limit) -> &'static str {
    match limit {
        Limit::Depth => "depth",
        Limit::States => "states",
        Limit::Memory => "memory",
    }
}

/// How far the exploration went, in words.
pub(super) fn bounds(spec: &CheckSpec) -> String {
    let bounds = &spec.bounds;
    let mut words = vec![format!("{} crashes", bounds.crashes)];
    if spec.assumption.has_recovery() {
        words.push(format!("{} recoveries", bounds.recoveries));
    }
    if spec.assumption.has_loss() {
        words.push(format!("{} losses", bounds.losses));
        words.push(format!("{} duplicates", bounds.duplicates));
    }
    if bounds.early_timers != Bounds::USUAL.early_timers {
        words.push(format!("{} early timers", bounds.early_timers));
    }
    if bounds.order == Order::Fifo {
        words.push("links in order".to_owned());
    }
    let required = if bounds.require_within_counter { " (required)" } else { "" };
    words.push(format!("counter {}{required}", bounds.counter));
    if bounds.depth != Bounds::USUAL.depth {
        words.push(format!("{} steps", bounds.depth));
    }
    words.join(", ")
}

/// For programs.
pub(super) fn json(spec: &CheckSpec, report: &CheckReport) -> Value {
    let options = report.scenario.settings.options.of(spec.algorithm);
    let options: serde_json::Map<String, Value> =
        options.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    let properties: Vec<_> = report
        .properties
        .iter()
        .map(|property| {
            json!({
                "id": property.id,
                "verdict": property.verdict.name(),
                "trace_length": property.trace_length,
            })
        })
        .collect();
    let (bounds, visited) = (&spec.bounds, &report.exploration);
    let early_timers =
        (bounds.early_timers != Bounds::USUAL.early_timers).then_some(bounds.early_timers);
    json!({
        "algorithm": spec.algorithm.name(),
        "options": options,
        "assume": spec.assumption.name(),
        "nodes": spec.nodes,
        "crashes": bounds.crashes,
        "recoveries": bounds.recoveries,
        "losses": bounds.losses,
        "duplicates": bounds.duplicates,
        "fifo": bounds.order == Order::Fifo,
        "early_timers": early_timers,
        "counter": bounds.counter,
        "require_within_counter": bounds.require_within_counter,
        "depth": bounds.depth,
        "states": visited.states,
        "complete": visited.is_complete,
        "bounded_by": visited.limit.map(name),
        "depth_complete": visited.depth_complete,
        "unsure": visited.unsure,
        "elections_decided": visited.has_elections,
        "properties": properties,
    })
}
