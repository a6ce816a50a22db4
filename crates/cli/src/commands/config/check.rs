//! `tanist config check`: everything that is wrong with a configuration, at once.

use serde_json::{Value, json};

use crate::config::{Config, ConfigArgs, Finding, Sources};
use crate::exit::Exit;
use crate::terminal::output::{self, Format};

/// Say everything that is wrong with a configuration; exit with 6 if an agent would not start.
///
/// Files and directories are looked at too: the key, the data directory, the hooks. Run it as the
/// user that the agent runs as.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Format,
}

impl Args {
    /// Checks it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let sources = Sources::of(&self.config);
        let examined = Config::examine(&sources);
        let (findings, summary) = match &examined {
            Ok(config) => {
                let mut findings = config.warnings.clone();
                findings.extend(config.surroundings());
                (findings, summary(config))
            }
            Err(findings) => (findings.clone(), String::new()),
        };
        let is_good = !findings.iter().any(|finding| finding.severity.is_error());
        match self.output {
            Format::Json => output::print_json(&json!({
                "file": sources.path(),
                "is_good": is_good,
                "findings": findings.iter().map(entry).collect::<Value>(),
            }))?,
            Format::Table => {
                for finding in &findings {
                    output::complain(&finding.to_string());
                }
                if is_good {
                    output::print(&format!("{} is good: {summary}\n", sources.name()))?;
                }
            }
        }
        Ok(if is_good { Exit::Well } else { Exit::BadFile })
    }
}

fn summary(config: &Config) -> String {
    let count = config.peers.all().len();
    format!("{} of {count} in group {}, {}", config.node, config.group, config.algorithm.name())
}

fn entry(finding: &Finding) -> Value {
    json!({
        "severity": finding.severity,
        "place": finding.place.to_string(),
        "key": finding.key,
        "what": finding.what,
    })
}

const EXAMPLES: &str = "\
Examples:
  tanist config check
  tanist config check -c tanist.toml
  tanist config check -c tanist.toml --set timing.heartbeat=500ms -o json";
