//! `tanist algorithms`: the catalogue.

use std::fmt::Write;

use serde_json::{Value, json};
use tanist_core::election::{Algorithm, Descriptor};
use tanist_core::options::{OptionInfo, ValueInfo};

use crate::exit::Exit;
use crate::terminal::output::{self, Format};
use crate::terminal::table::Table;

/// List the algorithms: where they come from, what they assume and promise, their options.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How to write it.
    #[arg(short, long, value_enum, default_value = "table", value_name = "FORMAT")]
    output: Format,
}

impl Args {
    /// Prints the catalogue.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        match self.output {
            Format::Table => output::print(&text())?,
            Format::Json => {
                output::print_json(&catalogue().map(description).collect::<Value>())?;
            }
        }
        Ok(Exit::Well)
    }
}

fn catalogue() -> impl Iterator<Item = &'static Descriptor> {
    Algorithm::ALL.iter().map(|algorithm| algorithm.descriptor())
}

fn text() -> String {
    let blocks: Vec<String> = catalogue().map(block).collect();
    let note = "The first value of an option is its default; (literal) marks what a source prints \
                but should\nnot be relied on.";
    format!("{}\n{note}\n", blocks.join("\n"))
}

fn block(about: &Descriptor) -> String {
    let mut table = Table::list(2);
    for (what, words) in [
        ("source", about.source),
        ("network", about.network.text()),
        ("model", about.model.text()),
        ("guarantee", about.guarantee),
    ] {
        table.row([what.to_owned(), words.to_owned()]);
    }
    let mut block = format!("{}\n{table}", about.name);
    if about.options.is_empty() {
        return block;
    }
    let mut options = Table::list(4);
    for option in about.options {
        options.row([option.name.to_owned(), values(option)]);
        options.row([String::new(), option.about.trim().to_owned()]);
    }
    // Writing to a String cannot fail.
    let _ = write!(block, "  options\n{options}");
    block
}

fn values(option: &OptionInfo) -> String {
    let name = |value: &ValueInfo| match value.is_literal {
        true => format!("{} (literal)", value.name),
        false => value.name.to_owned(),
    };
    option.values.iter().map(name).collect::<Vec<_>>().join(" | ")
}

fn description(about: &Descriptor) -> Value {
    json!({
        "name": about.name,
        "source": about.source,
        "network": about.network.text(),
        "model": about.model.text(),
        "guarantee": about.guarantee,
        "options": about.options.iter().map(option_json).collect::<Value>(),
    })
}

fn option_json(option: &OptionInfo) -> Value {
    let value = |value: &ValueInfo| json!({ "name": value.name, "literal": value.is_literal });
    json!({
        "name": option.name,
        "default": option.values.first().map(|value| value.name),
        "values": option.values.iter().map(value).collect::<Value>(),
        "about": option.about.trim(),
    })
}

const EXAMPLES: &str = "\
Examples:
  tanist algorithms
  tanist algorithms -o json | jq -r '.[].name'";
