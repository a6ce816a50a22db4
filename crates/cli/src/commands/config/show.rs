//! `tanist config show`: every value that counts, and where it comes from.

use serde_json::{Map, Value, json};

use crate::config::{Config, ConfigArgs, Settings, Sources};
use crate::exit::Exit;
use crate::terminal::output::{self, Machine};
use crate::terminal::table::{Table, left};

/// Show every value that counts, from whatever place. Secrets are in files, and only named.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// Show where each value comes from.
    #[arg(long)]
    origin: bool,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: ShowFormat,
}

/// How a configuration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ShowFormat {
    /// For people; may change.
    Table,
    /// For programs; names stay as they are.
    Json,
    /// The same as YAML.
    Yaml,
    /// A file that says the same.
    Toml,
}

impl Args {
    /// Shows it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let config = Config::load(&Sources::of(&self.config))?;
        for warning in &config.warnings {
            output::complain(&warning.to_string());
        }
        let settings = &config.settings;
        match self.output {
            ShowFormat::Table => output::print(&self.table(settings).to_string())?,
            ShowFormat::Json => output::print_value(&self.value(settings), Machine::Json)?,
            ShowFormat::Yaml => output::print_value(&self.value(settings), Machine::Yaml)?,
            ShowFormat::Toml => output::print(&self.toml(settings))?,
        }
        Ok(Exit::Well)
    }

    fn table(&self, settings: &Settings) -> Table {
        let mut table = if self.origin {
            Table::new([left("KEY"), left("FROM"), left("VALUE")])
        } else {
            Table::new([left("KEY"), left("VALUE")])
        };
        for (name, setting) in settings.iter() {
            let origin = self.origin.then(|| setting.origin.to_string());
            // With a blank behind each comma, a long list can be wrapped.
            let value = setting.value.to_string().replace(',', ", ");
            table.row([name.to_owned()].into_iter().chain(origin).chain([value]));
        }
        table
    }

    /// Nested as in a file; with origins, a list.
    fn value(&self, settings: &Settings) -> Value {
        if self.origin {
            let entry = |(name, setting): (&str, &crate::config::Setting)| {
                let (value, origin) = (setting.value.to_json(), setting.origin.to_string());
                json!({ "key": name, "value": value, "origin": origin })
            };
            return settings.iter().map(entry).collect();
        }
        let mut all = Map::new();
        for (name, setting) in settings.iter() {
            let value = setting.value.to_json();
            let (tables, name) = name.rsplit_once('.').unwrap_or(("", name));
            let tables = tables.split('.').filter(|table| !table.is_empty());
            let inner = tables.fold(&mut all, |of, table| {
                let table = of.entry(table).or_insert_with(|| json!({}));
                table.as_object_mut().expect("no key is a value and a table")
            });
            inner.insert(name.to_owned(), value);
        }
        Value::Object(all)
    }

    fn toml(&self, settings: &Settings) -> String {
        // What follows a table's head belongs to it, so what is in no table comes first.
        let mut rows: Vec<_> = settings.iter().collect();
        rows.sort_by_key(|(name, _)| name.contains('.'));
        let (mut text, mut table) = (String::new(), "");
        for (dotted, setting) in rows {
            let (of, name) = dotted.split_once('.').unwrap_or(("", dotted));
            if of != table {
                table = of;
                text.push_str(&format!("\n[{table}]\n"));
            }
            let value = setting.value.to_toml();
            let origin = if self.origin { format!(" # {}", setting.origin) } else { String::new() };
            text.push_str(&format!("{name} = {value}{origin}\n"));
        }
        text
    }
}

const EXAMPLES: &str = "\
Examples:
  tanist config show --origin
  tanist config show -c tanist.toml -o json | jq .timing
  TANIST_TIMING_HEARTBEAT=500ms tanist config show -c tanist.toml --origin";
