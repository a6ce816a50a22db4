//! A judged recording, as a table for people and as JSON for programs.
//!
//! Names in JSON are those of `tanist sim run -o json`; what only a recording has is under
//! `recording`, and `options` holds those that are not at their default.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use tanist_sim::monitors::Verdict;
use tanist_sim::observe::global_state::{GlobalState, NodeView};
use tanist_sim::recorded::{Fit, Judged, Recorded};
use tanist_sim::studies::run::NodeAtEnd;

use crate::terminal::output;
use crate::terminal::table::{Table, left, right};
use crate::terminal::violation;

/// The report for people.
pub(super) fn text(run: &Recorded, judged: &Judged) -> Result<String, fmt::Error> {
    let header = &run.header;
    let mut text = String::new();
    let title =
        format!("{} · {} · {} nodes", header.scenario, header.algorithm, header.nodes.len());
    let options: String = header.options.iter().map(|option| format!(" · {option}")).collect();
    writeln!(text, "{}", output::plain(&format!("{title}{options}")))?;
    let (entries, files) = (run.entries().count(), run.fit.files);
    writeln!(text, "entries: {entries}, files: {files}, from start to end: {}", run.end())?;
    write!(text, "\n{}", messages(judged))?;
    write!(text, "\n{}", nodes(&judged.global))?;
    write!(text, "\n{}", assertions(judged))?;
    text.push_str(&remarks(run));
    Ok(text)
}

fn messages(judged: &Judged) -> String {
    let counts = &judged.counts;
    let mut table = Table::new([left("MESSAGES"), right("SENT")]);
    for (kind, count) in counts.by_kind() {
        table.row([kind.to_owned(), count.to_string()]);
    }
    table.row(["all".to_owned(), counts.sent.to_string()]);
    format!("{table}{} delivered, {} dropped\n", counts.delivered, counts.dropped)
}

fn nodes(global: &GlobalState) -> Table {
    let mut table =
        Table::new([left("NODE"), left("STATUS"), left("COORDINATOR"), left("GROUP"), left("UP")]);
    for view in global.views() {
        let up: Vec<String> = view.state.up.iter().map(|id| id.to_string()).collect();
        let none = || "-".to_owned();
        table.row([
            view.id.to_string(),
            status(view),
            view.state.coordinator.map_or_else(none, |id| id.to_string()),
            view.state.group.map_or_else(none, |group| group.to_string()),
            if up.is_empty() { none() } else { up.join(" ") },
        ]);
    }
    table
}

fn status(view: &NodeView) -> String {
    match (view.is_up, view.incarnations) {
        (true, _) => view.state.status.to_string(),
        (false, 0) => "never up".to_owned(),
        (false, _) => "Crashed".to_owned(),
    }
}

fn assertions(judged: &Judged) -> String {
    let mut table = Table::list(2);
    for violated in judged.violated().filter_map(|judgement| judgement.violated.as_ref()) {
        let place = violation::place(violated);
        table.row(["VIOLATED".to_owned(), format!("{} {place}", violated.assertion)]);
    }
    for (name, verdict) in [("hold", Verdict::Holds), ("not applicable", Verdict::NotApplicable)] {
        let of = judged
            .rulings
            .iter()
            .filter(|ruling| ruling.judgement.verdict == verdict && ruling.reason.is_none());
        let ids: Vec<&str> = of.map(|ruling| ruling.judgement.assertion).collect();
        if !ids.is_empty() {
            table.row([name.to_owned(), ids.join(" ")]);
        }
    }
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for ruling in &judged.rulings {
        let Some(reason) = ruling.reason.as_deref() else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, ids)) => ids.push(ruling.judgement.assertion),
            None => reasons.push((reason, vec![ruling.judgement.assertion])),
        }
    }
    for (reason, ids) in reasons {
        table.row(["not applicable".to_owned(), format!("{}: {reason}", ids.join(" "))]);
    }
    format!("ASSERTIONS\n{table}")
}

/// What a reader should know about the recording, one sentence a line.
pub(super) fn remarks(run: &Recorded) -> String {
    let fit = &run.fit;
    let mut table = Table::list(2);
    let mut remark = |is_so: bool, what: String| {
        if is_so {
            table.row(["-".to_owned(), what]);
        }
    };
    let Fit { half_lines, nudged, nudged_max, losses, .. } = fit;
    let (dead, gaps) = (&fit.unseen_crashes, &fit.gaps);
    let halves = format!("lines cut in half by the death of their writer: {half_lines}");
    remark(*half_lines > 0, halves);
    let early = "receipts stamped before their sendings, and put behind them";
    remark(*nudged > 0, format!("{early}: {nudged}, by up to {nudged_max:?}"));
    let unseen = "their crash was not recorded; taken as down from their last line on";
    remark(!dead.is_empty(), format!("{unseen}: {dead}"));
    let missing = "others heard them, but their own lines are missing";
    remark(!gaps.is_empty(), format!("{missing}: {gaps}"));
    remark(*losses > 0, format!("messages sent and never taken up: {losses}"));
    let list = table.to_string();
    if list.is_empty() { list } else { format!("\nREMARKS\n{list}") }
}

/// The report for programs.
pub(super) fn json(run: &Recorded, judged: &Judged) -> serde_json::Value {
    let fit = &run.fit;
    let assertions: Vec<_> = judged
        .rulings
        .iter()
        .map(|ruling| {
            let violated = ruling.judgement.violated.as_ref();
            serde_json::json!({
                "id": ruling.judgement.assertion,
                "verdict": ruling.judgement.verdict.name(),
                "at_us": violated.map(|violated| violated.at.as_micros()),
                "nodes": violated.map(|violated| violated.violation.nodes.clone()),
                "why": violated.map(|violated| violated.violation.why.clone()),
                "reason": ruling.reason,
            })
        })
        .collect();
    let counts = &judged.counts;
    let options = run.header.options.iter().filter_map(|option| option.split_once('='));
    let options: BTreeMap<&str, &str> = options.collect();
    serde_json::json!({
        "scenario": run.header.scenario,
        "algorithm": run.header.algorithm,
        "options": options,
        "nodes": run.header.nodes.len(),
        "messages": {
            "sent": counts.sent,
            "delivered": counts.delivered,
            "dropped": counts.dropped,
            "by_kind": counts.by_kind(),
        },
        "elections": { "called": counts.elections_called, "won": counts.elections_won },
        "time": { "end_us": run.end().as_micros() },
        "nodes_at_end": judged.global.views().iter().map(at_end).collect::<Vec<_>>(),
        "assertions": assertions,
        "recording": {
            "files": fit.files,
            "entries": run.entries().count(),
            "half_lines": fit.half_lines,
            "nudged": fit.nudged,
            "nudged_max_us": fit.nudged_max.as_micros(),
            "unseen_deaths": fit.unseen_crashes,
            "gaps": fit.gaps,
            "losses": fit.losses,
        },
    })
}

fn at_end(view: &NodeView) -> NodeAtEnd {
    NodeAtEnd {
        id: view.id.0,
        status: if view.is_up { view.state.status.to_string() } else { "Crashed".to_owned() },
        coordinator: view.state.coordinator.map(|node| node.0),
        group: view.state.group,
        up: view.state.up.iter().map(|node| node.0).collect(),
        definition: view.state.definition.as_ref().map(ToString::to_string),
    }
}
