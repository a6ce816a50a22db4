//! `tanist sim list`: the scenarios that come with the program.

use serde_json::{Value, json};
use tanist_sim::Scenario;

use crate::exit::Exit;
use crate::library;
use crate::terminal::output::{self, Format};
use crate::terminal::table::{Table, left};

/// List the scenarios that come with the program.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How to write it.
    #[arg(short, long, value_enum, default_value = "table", value_name = "FORMAT")]
    output: Format,
}

impl Args {
    /// Prints the list.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let scenarios = library::shipped()?;
        match self.output {
            Format::Table => output::print(&table(&scenarios).to_string())?,
            Format::Json => output::print_json(&scenarios.iter().map(entry).collect::<Value>())?,
        }
        Ok(Exit::Well)
    }
}

fn table(scenarios: &[(&str, Scenario)]) -> Table {
    let mut table = Table::new([left("NAME"), left("ALGORITHM"), left("ABOUT")]);
    for (name, scenario) in scenarios {
        let algorithm = scenario.settings.algorithm.name().to_owned();
        table.row([(*name).to_owned(), algorithm, scenario.about.clone()]);
    }
    table
}

fn entry((name, scenario): &(&str, Scenario)) -> Value {
    json!({
        "name": name,
        "algorithm": scenario.settings.algorithm.name(),
        "about": scenario.about,
    })
}

const EXAMPLES: &str = "\
Examples:
  tanist sim list
  tanist sim list -o json | jq -r '.[] | select(.algorithm == \"bully\").name'";
