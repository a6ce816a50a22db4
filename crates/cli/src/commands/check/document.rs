//! The table of explorations in a document, made again from the commands in it.
//!
//! A row is its command and a remark about it; everything between is what the command
//! says. To add a row, add a line with a command and run `tanist check --table`.

use std::fs;
use std::path::Path;

use anyhow::Context;
use clap::Parser;
use tanist_check::{CheckReport, CheckSpec, Verdict};

use super::{Args, explored, report};
use crate::exit::Exit;
use crate::problem::Problem;

/// A command as it stands in a document.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(flatten)]
    args: Args,
}

/// Runs the commands of a document's table and writes what they say into it.
pub(super) fn renew(path: &Path, below: Option<usize>) -> anyhow::Result<Exit> {
    let name = path.display();
    let text = fs::read_to_string(path)
        .with_context(|| format!("error: cannot read {name}; name a document with a table"))?;
    let (before, rest) = text.split_once(BEGIN).ok_or_else(|| no_table(path))?;
    let (table, after) = rest.split_once(END).ok_or_else(|| no_table(path))?;
    let mut made = format!("\n{HEADER}\n");
    for row in table.lines().filter(|line| line.contains("`tanist check ")) {
        made += &renewed(row, below)?;
        made.push('\n');
    }
    fs::write(path, format!("{before}{BEGIN}{made}{END}{after}"))
        .with_context(|| format!("error: cannot write {name}; nothing was changed"))?;
    Ok(Exit::Well)
}

fn no_table(path: &Path) -> Problem {
    let name = path.display();
    Problem::BadFile(format!("{name}: no table between {BEGIN} and {END}; put these two lines in"))
}

fn renewed(row: &str, below: Option<usize>) -> anyhow::Result<String> {
    let cells: Vec<&str> = row.trim().trim_matches('|').split('|').map(str::trim).collect();
    let command = cells.last().map_or("", |cell| cell.trim_matches('`'));
    let known: Option<usize> = cells.get(STATES).and_then(|cell| cell.parse().ok());
    // A row that was never explored may have any number of states.
    if below.is_some_and(|below| known.is_none_or(|known| known >= below)) {
        return Ok(row.to_owned());
    }
    let words = command.split_whitespace().skip(2);
    let line = Line::try_parse_from(words)
        .map_err(|error| Problem::BadFile(format!("`{command}`: {error}")))?;
    let spec = line.args.spec()?;
    let report = explored(&spec)?;
    Ok(cells_of(cells.first().copied().unwrap_or_default(), command, &spec, &report))
}

fn cells_of(about: &str, command: &str, spec: &CheckSpec, report: &CheckReport) -> String {
    let changed = report.scenario.settings.options.changed(spec.algorithm);
    let changed: Vec<String> =
        changed.iter().map(|(name, value)| format!("`{name}={value}`")).collect();
    let visited = &report.exploration;
    let end = if visited.is_complete { "yes" } else { "no" };
    [
        "",
        about,
        spec.algorithm.name(),
        &changed.join(" "),
        spec.assumption.name(),
        &spec.nodes.to_string(),
        &report::bounds(spec),
        &verdicts(report),
        &visited.states.to_string(),
        end,
        &format!("`{command}`"),
        "",
    ]
    .join(" | ")
    .trim()
    .to_owned()
}

/// Every property under its verdict, with the length of a shortest run where it is violated.
fn verdicts(report: &CheckReport) -> String {
    let all = [
        Verdict::Violated,
        Verdict::BoundReached,
        Verdict::NotReached,
        Verdict::Holds,
        Verdict::Reached,
    ];
    let told = all.iter().filter_map(|verdict| {
        let with = report.properties.iter().filter(|property| property.verdict == *verdict);
        let ids: Vec<String> = with
            .map(|property| match property.trace_length {
                Some(steps) => format!("{} ({steps} steps)", property.id),
                None => property.id.to_owned(),
            })
            .collect();
        let verdict = match verdict {
            Verdict::Violated => format!("**{}**", verdict.name()),
            Verdict::BoundReached | Verdict::NotReached => verdict.name().to_owned(),
            Verdict::Holds | Verdict::Reached => verdict.name().to_owned(),
        };
        (!ids.is_empty()).then(|| format!("{verdict}: {}", ids.join(" ")))
    });
    told.collect::<Vec<_>>().join("; ")
}

const BEGIN: &str = "<!-- explorations: made by tanist check --table -->";
const END: &str = "<!-- end of explorations -->";
const HEADER: &str = "\
| what | algorithm | options | assume | N | at most | properties | states | complete | command |
|---|---|---|---|---|---|---|---|---|---|";
/// In which column the number of states is.
const STATES: usize = 7;
