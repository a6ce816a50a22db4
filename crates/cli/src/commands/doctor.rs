//! `tanist doctor`: what is wrong with an agent and its surroundings, and what to do about it.
//!
//! A running agent is asked what it counted; a file is checked as `tanist config check` does; the
//! machine is looked at as the user who runs the command. Nothing is changed but a file without a
//! name in the data directory, which is gone when it is closed. Left out: the machines of the peers.
//! Run it there as well.

mod finding;
mod group;
mod machine;

use std::path::PathBuf;

use serde_json::{Value, json};

use self::finding::{Finding, Findings, Severity};
use super::query::Agent;
use crate::agent::report::{MembersReport, SettingsReport};
use crate::config::{Config, Severity as ConfigSeverity, Sources};
use crate::control::client::Client;
use crate::control::protocol::Ask;
use crate::exit::Exit;
use crate::terminal::output::{self, LookFormat};
use crate::terminal::table::{Table, left};

/// Look for what is wrong with an agent, its file and its machine, and say how to put it right.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    agent: Agent,
    /// Check this file too, and the agent that it describes if that runs.
    #[arg(short, long, value_name = "FILE", conflicts_with = "node")]
    config: Option<PathBuf>,
    /// How it is written; `wide` shows what is well too.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: LookFormat,
}

/// What a running agent says of itself.
struct Patient {
    members: MembersReport,
    settings: SettingsReport,
    metrics: Value,
}

impl Args {
    /// Looks at everything.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let mut findings = Findings::default();
        let config = self.config.as_ref().and_then(|path| read(path, &mut findings));
        let patient = self.patient(config.as_ref(), &mut findings)?;
        if let Some(patient) = &patient {
            group::look(&patient.members, &patient.settings, &patient.metrics, &mut findings);
            machine::look(&patient.settings, &mut findings);
        } else if let Some(config) = &config {
            machine::look(&machine::settings(config), &mut findings);
            machine::ports(config, &mut findings);
        }
        machine::clock(&mut findings);
        self.tell(&findings)?;
        Ok(if findings.is_bad() { Exit::Violated } else { Exit::Well })
    }

    /// The agent, if it runs. Without a file, there is nothing else to look at.
    fn patient(
        &self,
        config: Option<&Config>,
        findings: &mut Findings,
    ) -> anyhow::Result<Option<Patient>> {
        if self.agent.is_given() || self.config.is_none() {
            return Ok(Some(Patient::ask(self.agent.connect()?)?));
        }
        let Some(socket) = config.and_then(|config| config.socket.as_ref()) else {
            return Ok(None);
        };
        match Client::connect(socket) {
            Ok(client) => Ok(Some(Patient::ask(client)?)),
            Err(problem) => {
                let what = format!("{problem}: only the file and the machine are looked at");
                findings.note("agent", what, "start it: tanist agent -c FILE");
                Ok(None)
            }
        }
    }

    fn tell(&self, findings: &Findings) -> anyhow::Result<()> {
        if let Some(machine) = self.output.machine() {
            let all = serde_json::to_value(findings.all())?;
            let is_list = self.output == LookFormat::Ndjson;
            let value = json!({ "is_well": !findings.is_bad(), "findings": all });
            return output::print_value(if is_list { &all } else { &value }, machine);
        }
        let is_wide = self.output == LookFormat::Wide;
        let mut shown: Vec<&Finding> = findings.all().iter().collect();
        shown.retain(|finding| is_wide || finding.severity > Severity::Well);
        shown.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let mut table = Table::new([left("SEVERITY"), left("WHERE"), left("WHAT")]);
        for finding in &shown {
            let what = match &finding.fix {
                Some(fix) => format!("{} Fix: {fix}.", finding.what),
                None => finding.what.clone(),
            };
            table.row([finding.severity.name().to_owned(), finding.place.to_owned(), what]);
        }
        let text = if shown.is_empty() { String::new() } else { table.to_string() };
        output::print(&format!("{text}{}\n", findings.summary()))?;
        Ok(())
    }
}

impl Patient {
    fn ask(mut client: Client) -> anyhow::Result<Self> {
        Ok(Self {
            members: client.ask(&Ask::Members)?,
            settings: client.ask(&Ask::Settings)?,
            metrics: client.ask(&Ask::Metrics)?,
        })
    }
}

/// The file, and everything that is wrong with it.
fn read(path: &std::path::Path, findings: &mut Findings) -> Option<Config> {
    let sources = Sources { file: Some(path.to_owned()), ..Sources::default() };
    let (config, found) = match Config::examine(&sources) {
        Ok(config) => {
            let mut found = config.warnings.clone();
            found.extend(config.surroundings());
            (Some(config), found)
        }
        Err(found) => (None, found),
    };
    for finding in &found {
        let what = format!("{finding}.");
        match finding.severity {
            ConfigSeverity::Error | ConfigSeverity::Unavailable => {
                findings.problem("file", what, "tanist config check -c FILE");
            }
            ConfigSeverity::Warning => findings.warn("file", what, "tanist config check -c FILE"),
        }
    }
    if found.is_empty() {
        findings.well("file", format!("{} is in order.", path.display()));
    }
    config
}

const EXAMPLES: &str = "\
Run it as the user whom the agent runs as. Without an agent the peers are dialled: each counts one
handshake that came to nothing. Counts of an agent are since its start.

Examples:
  tanist doctor
  tanist doctor -c /etc/tanist/tanist.toml
  tanist doctor --socket /run/tanist/billing.sock -o wide
  tanist doctor -o json | jq '.findings[] | select(.severity == \"problem\")'

Exit codes:
  0 no problem was found, 1 one was, 3 no agent there";
