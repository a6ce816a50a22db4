//! `tanist sim run`: one scenario, one seed: its story, its figures, its verdict.

use std::fmt::{self, Write};
use std::path::PathBuf;

use tanist_core::membership::NodeNames;
use tanist_core::{GroupConfig, NodeId};
use tanist_sim::monitors::Verdict;
use tanist_sim::observe::observers::Judgement;
use tanist_sim::pictures::diagram;
use tanist_sim::pictures::part::Shown;
use tanist_sim::pictures::scene::{self, Scene};
use tanist_sim::pictures::story;
use tanist_sim::studies::run::NodeAtEnd;
use tanist_sim::{Report, Scenario, run};

use super::frames;
use super::part::PartArgs;
use crate::exit::Exit;
use crate::library;
use crate::problem::Problem;
use crate::terminal::output::{self, Format, Target, quoted};
use crate::terminal::table::{Table, left, right};
use crate::terminal::violation;

/// Run one scenario and tell what happened.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A scenario file, or the name of one that comes with the program (tanist sim list).
    scenario: String,
    /// Replace the scenario's seed.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Set an option of the scenario's algorithm (tanist algorithms); may be given several times.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = pair)]
    options: Vec<(String, String)>,
    /// How to write the result [default: table].
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Format>,
    /// Write the trace, one JSON object per line; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    trace: Option<Target>,
    /// Draw the space-time diagram; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    svg: Option<Target>,
    /// Draw the nodes in their places, with the election's steps as numbered arrows; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    topology: Option<Target>,
    /// Draw each stage of the run as a picture in this folder, and an index.html of all.
    #[arg(long, value_name = "DIR")]
    frames: Option<PathBuf>,
    #[command(flatten)]
    part: PartArgs,
}

impl Args {
    /// Runs the scenario.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let files = [self.trace.as_ref(), self.svg.as_ref(), self.topology.as_ref()];
        let is_report_wanted = output::is_report_wanted(self.output, &files)?;
        let scenario = self.scenario()?;
        let part = self.part.part(scenario.end)?;
        let is_told = is_report_wanted && matches!(self.output, None | Some(Format::Table));
        if part.is_some() && !is_told && self.svg.is_none() {
            let what = "--from, --to and --hide choose a part of the story and of the diagram, and \
                        neither was asked for; nothing was run. Add --svg FILE";
            return Err(Problem::Usage(what.to_owned()).into());
        }
        let report = run(&scenario, self.seed.unwrap_or(scenario.seed));
        let trace = &report.recording;
        let shown = part.map(|part| part.of(&scenario.members, &trace.entries));
        if let Some(target) = &self.trace {
            target.fill(|mut to| trace.write(&mut to))?;
        }
        if let Some(target) = &self.svg {
            let picture = match &shown {
                Some(shown) => {
                    let note = self.part.note(shown, scenario.end);
                    diagram::space_time_of_part(&trace.header, &shown.drawn(), &note)
                }
                None => diagram::space_time(&trace.header, &trace.entries),
            };
            target.fill(|to| to.write_all(picture.as_bytes()))?;
        }
        if let Some(target) = &self.topology {
            let places = Scene::of(&scenario, report.seed);
            let picture = scene::draw(&trace.header, &trace.entries, &places);
            target.fill(|to| to.write_all(picture.as_bytes()))?;
        }
        if let Some(folder) = &self.frames {
            let places = Scene::of(&scenario, report.seed);
            let written = frames::write(&trace.header, &trace.entries, &places, folder)?;
            output::complain(&written);
        }
        if is_report_wanted {
            match self.output.unwrap_or(Format::Table) {
                Format::Table => output::print(&self.text(&scenario, &report, shown.as_ref())?)?,
                Format::Json => output::print_json(&report.to_json(&scenario))?,
            }
        }
        Ok(verdict(&report))
    }

    fn scenario(&self) -> Result<Scenario, Problem> {
        let mut scenario = library::load(&self.scenario)?;
        for (name, value) in &self.options {
            let algorithm = scenario.settings.algorithm;
            scenario.settings.options.set(algorithm, name, value).map_err(|error| {
                Problem::Usage(format!("{error}. Nothing was run. See: tanist algorithms"))
            })?;
        }
        let refused =
            |error: &dyn fmt::Display| Problem::Usage(format!("{error}. Nothing was run."));
        let config = GroupConfig::new(scenario.settings).map_err(|error| refused(&error))?;
        let arranged = scenario.members.clone().arranged(&config);
        arranged.map_err(|error| refused(&error))?;
        Ok(scenario)
    }

    fn text(
        &self,
        scenario: &Scenario,
        report: &Report,
        shown: Option<&Shown>,
    ) -> Result<String, fmt::Error> {
        let trace = &report.recording;
        let mut text = String::new();
        if let Some(shown) = shown {
            story::story_of_part(&trace.header, shown, &mut text)?;
            let note = self.part.note(shown, scenario.end);
            writeln!(text, "\nShown: {note}.\nThe figures below are of the whole run.")?;
        } else {
            story::story(&trace.header, &trace.entries, &mut text)?;
        }
        write!(text, "\n{}", messages(scenario, report))?;
        write!(text, "\n{}", nodes(&report.nodes, &report.recording.header.names))?;
        write!(text, "\n{}", assertions(&report.assertions))?;
        write!(text, "\n{}{}", not_happened(report), self.remarks(scenario, report))?;
        writeln!(text, "Replay: {}", self.replay(report.seed))?;
        Ok(text)
    }

    /// How the run compares with what the scenario expects.
    fn remarks(&self, scenario: &Scenario, report: &Report) -> String {
        let breaks = &scenario.expect.breaks;
        if report.surprises.is_empty() {
            return match breaks.is_empty() {
                true => String::new(),
                false => {
                    format!(
                        "This scenario is there to show {} violated: it is.\n",
                        breaks.join(", ")
                    )
                }
            };
        }
        let mut text = String::from("Not as the scenario expects:\n");
        for surprise in &report.surprises {
            text.extend(["  ", &output::plain(surprise), "\n"]);
        }
        if report.seed != scenario.seed || !self.options.is_empty() {
            text.push_str("Its expectations are for its own seed and options.\n");
        }
        text
    }

    fn replay(&self, seed: u64) -> String {
        let mut line = format!("tanist sim run {} --seed {seed}", quoted(&self.scenario));
        for (name, value) in &self.options {
            line.extend([" --option ", &quoted(&format!("{name}={value}"))]);
        }
        line
    }
}

/// The parts of the scenario that did not happen.
fn not_happened(report: &Report) -> String {
    if report.not_happened.is_empty() {
        return String::new();
    }
    let mut text = String::from("Did not happen:\n");
    for what in &report.not_happened {
        text.extend(["  ", &output::plain(what), "\n"]);
    }
    text
}

/// The exit code of a run, and on stderr the reason if it is not 0.
fn verdict(report: &Report) -> Exit {
    let violated = report.violated().filter_map(|judged| judged.violated.as_ref());
    let breaks: Vec<String> = violated.map(violation::line).collect();
    breaks.iter().for_each(|line| output::complain(line));
    match report.surprises.len() {
        0 if breaks.is_empty() => Exit::Well,
        0 => Exit::Violated,
        count => {
            let first = output::plain(&report.surprises[0]);
            let more =
                if count == 1 { String::new() } else { format!(" (and {} more)", count - 1) };
            output::complain(&format!("not as expected: {first}{more}"));
            Exit::Violated
        }
    }
}

fn messages(scenario: &Scenario, report: &Report) -> String {
    let counts = &report.counts;
    let mut table = Table::new([left("MESSAGES"), right("SENT")]);
    for (kind, count) in counts.by_kind() {
        table.row([kind.to_owned(), count.to_string()]);
    }
    table.row(["all".to_owned(), counts.sent.to_string()]);
    if scenario.topology.is_radio() {
        let (sent, heard) = (counts.transmissions(), counts.receptions());
        return format!(
            "{table}{sent} transmissions, {heard} receptions, {} lost\n",
            counts.dropped
        );
    }
    format!("{table}{} delivered, {} dropped\n", counts.delivered, counts.dropped)
}

fn nodes(nodes: &[NodeAtEnd], names: &NodeNames) -> Table {
    let called = |id: u32| names.of(NodeId(id)).to_string();
    let mut table = Table::new([
        left("NODE"),
        left("STATUS"),
        left("COORDINATOR"),
        left("GROUP"),
        left("UP"),
        left("DEFINITION"),
    ]);
    for node in nodes {
        let up: Vec<String> = node.up.iter().map(|id| called(*id)).collect();
        table.row([
            called(node.id),
            node.status.clone(),
            node.coordinator.map_or_else(none, called),
            node.group.map_or_else(none, |group| group.to_string()),
            if up.is_empty() { none() } else { up.join(" ") },
            node.definition.clone().unwrap_or_else(none),
        ]);
    }
    table
}

fn none() -> String {
    "-".to_owned()
}

fn assertions(judged: &[Judgement]) -> String {
    let mut table = Table::list(2);
    let all = judged.iter().filter_map(|judgement| judgement.violated.as_ref());
    for violated in all {
        let place = violation::place(violated);
        table.row(["VIOLATED".to_owned(), format!("{} {place}", violated.assertion)]);
    }
    for (name, verdict) in [("hold", Verdict::Holds), ("not applicable", Verdict::NotApplicable)] {
        let ids = judged.iter().filter(|judgement| judgement.verdict == verdict);
        let ids: Vec<&str> = ids.map(|judgement| judgement.assertion).collect();
        if !ids.is_empty() {
            table.row([name.to_owned(), ids.join(" ")]);
        }
    }
    format!("ASSERTIONS\n{table}")
}

/// Reads `NAME=VALUE`.
pub(in crate::commands) fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, as in waits=full")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

const EXAMPLES: &str = "\
Examples:
  tanist sim run bully-figure-10-8
  tanist sim run bully-figure-10-8 --option waits=full --svg run.svg
  tanist sim run ring-list-six-processes --topology ring.svg
  tanist sim run lecture-worst --frames stages
  tanist sim run ring-list-six-processes --from 2ms --to 10ms --hide acks,timers
  tanist sim run my-scenario.toml --seed 7 -o json | jq .messages
  tanist sim run my-scenario.toml --trace - | grep violation

Exit codes:
  0 every assertion holds, 1 one is violated or the run is not as [expect] says, 2 usage,
  6 bad file";
