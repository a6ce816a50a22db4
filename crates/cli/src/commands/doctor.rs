//! `tanist doctor`: what is wrong with an agent and its surroundings, and what to do about it.
//!
//! A running agent is asked what it counted; a file is checked as `tanist config check` does; the
//! machine is looked at as the user who runs the command. Nothing is changed but a file without a
//! name in the data directory, which is gone when it is closed. Peers are compared by what they said
//! in the handshake. Left out: their machines, and whether a leader elsewhere acts. Run it there as
//! well.

mod acting;
mod comparison;
mod finding;
mod group;
mod machine;
mod udp;

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::finding::{Finding, Findings, Severity};
use super::query::Agent;
use crate::agent::report::{MembersReport, SettingsReport};
use crate::config::{Config, Severity as ConfigSeverity, Sources};
use crate::control::client::Client;
use crate::control::protocol::Ask;
use crate::exit::Exit;
use crate::problem::Problem;
use crate::terminal::output::{self, LookFormat};
use crate::terminal::table::{Table, left};

/// Look for what is wrong with an agent, its file and its machine, and say how to put it right.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    agent: Agent,
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
        if self.output == LookFormat::Name {
            let what = "doctor has no names to print; choose table, wide, json, ndjson or yaml";
            return Err(Problem::Usage(format!("-o name: {what}")).into());
        }
        let mut findings = Findings::default();
        let config = self.agent.config.as_ref().and_then(|path| read(path, &mut findings));
        let patient = self.patient(config.as_ref(), &mut findings)?;
        if let Some(patient) = &patient {
            group::look(&patient.members, &patient.settings, &patient.metrics, &mut findings);
            udp::look(&patient.members, &patient.settings, &mut findings);
            machine::look(&patient.settings, &mut findings);
        } else if let Some(config) = &config {
            machine::look(&machine::settings(config), &mut findings);
            machine::ports(config, &mut findings);
        }
        machine::clock(&mut findings);
        let idle = patient.as_ref().and_then(Patient::idle);
        self.tell(&findings, idle.as_ref().map(|idle| idle.why.as_str()))?;
        Ok(if findings.is_bad() { Exit::Violated } else { Exit::Well })
    }

    /// The agent, if it runs. Without a file, there is nothing else to look at.
    fn patient(
        &self,
        config: Option<&Config>,
        findings: &mut Findings,
    ) -> anyhow::Result<Option<Patient>> {
        if self.agent.is_given() || self.agent.config.is_none() {
            return Ok(Some(Patient::settled(self.agent.connect()?)?));
        }
        let Some(socket) = config.and_then(|config| config.socket.as_ref()) else {
            return Ok(None);
        };
        match Client::connect(socket) {
            Ok(client) => Ok(Some(Patient::settled(client)?)),
            Err(problem) => {
                let what = format!("{problem}: only the file and the machine were checked.");
                findings.note("agent", what, "start it: tanist agent -c FILE");
                Ok(None)
            }
        }
    }

    /// Prints everything; first of all why the group does not act, if it does not.
    fn tell(&self, findings: &Findings, idle: Option<&str>) -> anyhow::Result<()> {
        if let Some(machine) = self.output.machine() {
            let all = serde_json::to_value(findings.all())?;
            let is_list = self.output == LookFormat::Ndjson;
            let value = json!({
                "is_well": !findings.is_bad(),
                "not_acting": idle,
                "findings": all,
            });
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
        let first = idle.map_or_else(String::new, |why| format!("NOT ACTING: {why}.\n"));
        let text = if shown.is_empty() { String::new() } else { table.to_string() };
        output::print(&format!("{first}{text}{}\n", findings.summary()))?;
        Ok(())
    }
}

impl Patient {
    /// Asks until what may be over in a moment is over or has lasted: an election, or the wait of a
    /// leader that has just been elected.
    fn settled(mut client: Client) -> anyhow::Result<Self> {
        let begun = Instant::now();
        loop {
            let patient = Self::ask(&mut client)?;
            let may_pass = patient.idle().is_some_and(|idle| idle.may_pass);
            if !may_pass || begun.elapsed() >= patient.patience() {
                return Ok(patient);
            }
            thread::sleep(ASK_EVERY);
        }
    }

    /// A leader waits for so long until a node that is silent counts as crashed, and elections are
    /// faster.
    fn patience(&self) -> Duration {
        let silence = self.settings.suspect_after_ms.unwrap_or_default();
        let silence = Duration::try_from_secs_f64(silence / 1000.0).unwrap_or_default();
        (silence * 2).clamp(PATIENCE_MIN, PATIENCE_MAX)
    }

    /// Why its group does not act, if it does not.
    fn idle(&self) -> Option<acting::Idle> {
        acting::judge(&self.members, &self.settings)
    }

    fn ask(client: &mut Client) -> anyhow::Result<Self> {
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
        findings.well("file", format!("{} is valid.", path.display()));
    }
    config
}

const ASK_EVERY: Duration = Duration::from_millis(100);
const PATIENCE_MIN: Duration = Duration::from_secs(1);
const PATIENCE_MAX: Duration = Duration::from_secs(10);

const EXAMPLES: &str = "\
Run it as the user that the agent runs as, on every node: a node compares its peers with itself, and
only the leader knows whether it acts. If the group does not act, the first line says why. Without a
running agent the peers are dialled, and each counts one failed handshake. Counts are since the start
of the agent. Every fault with its line: docs/operations.md.

Examples:
  tanist doctor
  tanist doctor -c /etc/tanist/tanist.toml
  tanist doctor --socket /run/tanist/billing.sock -o wide
  tanist doctor -o json | jq '.findings[] | select(.severity == \"problem\")'

Exit codes:
  0 no problem was found (warnings may have been), 1 one was, 2 usage, 3 no agent there";
