//! `tanist key status`: the keys of a node, and what each of its links rests on.

use std::path::PathBuf;

use serde_json::{Value, json};
use tanist::key::Keyring;

use super::read;
use crate::agent::secrets::{KeyReport, KeysReport, PeerKeysReport, key_reports};
use crate::commands::query::Agent;
use crate::control::protocol::Ask;
use crate::exit::Exit;
use crate::terminal::output::{self, LookFormat};
use crate::terminal::table::{Table, left, right};

/// Show the keys of a node, its identity, and what its links rest on.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    agent: Agent,
    /// Look at this key file instead of asking an agent.
    #[arg(long, value_name = "FILE", conflicts_with = "node")]
    file: Option<PathBuf>,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: LookFormat,
}

impl Args {
    /// Shows it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let value = match &self.file {
            Some(path) => json!({ "keys": key_reports(&read(path)?) }),
            None => with_file(self.agent.ask(&Ask::Keys)?)?,
        };
        if let Some(machine) = self.output.machine() {
            let list = if self.file.is_some() { "keys" } else { "peers" };
            let is_list = self.output == LookFormat::Ndjson;
            output::print_value(if is_list { &value[list] } else { &value }, machine)?;
            return Ok(Exit::Well);
        }
        let text = match self.output {
            LookFormat::Name => names(&value)?,
            LookFormat::Table
            | LookFormat::Wide
            | LookFormat::Json
            | LookFormat::Ndjson
            | LookFormat::Yaml => match &self.file {
                Some(_) => {
                    keys_table(&serde_json::from_value::<Vec<KeyReport>>(value["keys"].clone())?)
                        .to_string()
                }
                None => {
                    let is_reload_due = value["is_reload_due"] == true;
                    text(&serde_json::from_value(value)?, is_reload_due)
                }
            },
        };
        output::print(&text)?;
        Ok(Exit::Well)
    }
}

/// Adds whether the key file holds other keys than the agent uses; null if it cannot be read here.
fn with_file(mut value: Value) -> anyhow::Result<Value> {
    let report: KeysReport = serde_json::from_value(value.clone())?;
    let file = Keyring::read_to_edit(&report.key_file).ok();
    value["is_reload_due"] = json!(file.map(|ring| key_reports(&ring) != report.keys));
    Ok(value)
}

fn names(value: &Value) -> anyhow::Result<String> {
    let keys: Vec<KeyReport> = serde_json::from_value(value["keys"].clone())?;
    Ok(keys.iter().map(|key| format!("{}\n", key.id)).collect())
}

fn keys_table(keys: &[KeyReport]) -> Table {
    let mut table = Table::new([left("KEY"), left("STATE")]);
    for key in keys {
        let state = if key.is_used { "in use" } else { "accepted" };
        table.row([key.id.clone(), state.to_owned()]);
    }
    table
}

fn text(report: &KeysReport, is_reload_due: bool) -> String {
    let mut head = Table::list(0);
    head.row(["node".to_owned(), report.node.clone()]);
    let identity = match &report.identity {
        None => "none: only the group's key vouches for nodes".to_owned(),
        Some(identity) if identity.is_required => {
            format!("{}, required of peers", identity.public_key)
        }
        Some(identity) => format!("{}, not required of peers yet", identity.public_key),
    };
    head.row(["identity".to_owned(), identity]);
    if let Some(identity) = &report.identity {
        head.row(["listed".to_owned(), identity.listed.join(" ")]);
    }
    if is_reload_due {
        let what = "the key file holds other keys than the agent uses; run: tanist reload";
        head.row(["reload".to_owned(), what.to_owned()]);
    }
    let mut peers = Table::new([
        left("PEER"),
        left("LINK"),
        left("KEY"),
        left("PROOF"),
        right("WIRE"),
        left("REFUSED"),
    ]);
    for peer in &report.peers {
        let none = || "-".to_owned();
        peers.row([
            peer.node.clone(),
            if peer.is_connected { "open".to_owned() } else { none() },
            peer.key.clone().unwrap_or_else(none),
            peer.proof.as_ref().map_or_else(none, |proof| proof.replace('_', " ")),
            peer.wire_version.map_or_else(none, |version| version.to_string()),
            refusal(peer).unwrap_or_else(none),
        ]);
    }
    format!("{head}\n{}\n{peers}", keys_table(&report.keys))
}

fn refusal(peer: &PeerKeysReport) -> Option<String> {
    let theirs = peer.refusal.as_ref().map(|why| format!("refuses this node: {why}"));
    theirs.or_else(|| peer.refused_here.as_ref().map(|why| format!("is refused here: {why}")))
}

const EXAMPLES: &str = "\
PROOF is what the peer has shown: its own key as identity.peer_keys lists it, or the group key
only. Links are made when there is something to say, so that a peer without one may be well.

Examples:
  tanist key status
  tanist key status --socket /run/tanist/billing.sock -o json | jq '.peers[] | {node, key, proof}'
  tanist key status --file /etc/tanist/group.key

Exit codes:
  0 it was told, 3 no agent there, 6 it is no key file";
