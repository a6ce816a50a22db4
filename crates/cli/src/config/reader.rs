//! Typed values out of settings that were checked.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::check::peer_list;
use super::draft::Settings;
use super::identity;
use super::origin::Finding;
use super::radio;
use super::timing::TimingTable;
use super::value::Value;
use super::{Config, HealthTable, HooksTable, HttpTable, LogFormat, LogLevel, LogTable, OnJobLost};

/// Settings that were checked, as typed values.
pub(super) struct Reader<'a>(pub(super) &'a Settings);

impl Reader<'_> {
    /// None if something that is required is missing, which the check has told.
    pub(super) fn config(&self, warnings: Vec<Finding>) -> Option<Config> {
        let entries = |table| self.0.entries(table);
        let peers = peer_list(self.0);
        let me = peers.find(&self.text("node")?)?;
        Some(Config {
            group: self.text("group")?,
            node: peers.names().of(me).to_string(),
            me,
            peers,
            peer_entries: self.list("peers"),
            peers_version: self.number("peers_version")?,
            priority: self.number("priority"),
            priorities: entries("priorities")
                .filter_map(|(name, setting)| Some((name.to_owned(), setting.value.as_number()?)))
                .collect(),
            zones: self.texts("zones"),
            racks: self.texts("racks"),
            algorithm: self.0.value("algorithm").and_then(Value::as_algorithm)?,
            options: self.texts("options"),
            data_dir: self.path("data_dir")?,
            key_file: self.path("key_file")?,
            identity: identity::table(self.0),
            socket: self.path("socket"),
            listen: self.address("listen"),
            trace: self.path("trace"),
            timing: TimingTable::of(self.0),
            radio: radio::reach(self.0),
            http: self.http(),
            hooks: self.hooks()?,
            health: self.health(),
            on_job_lost: self.on_job_lost(),
            log: self.log(),
            work: self.number("work"),
            warnings,
            settings: self.0.clone(),
        })
    }

    fn http(&self) -> HttpTable {
        HttpTable {
            listen: self.address("http.listen"),
            agent_check: self.address("http.agent_check"),
            token_file: self.path("http.token_file"),
            allowed_hosts: self.list("http.allowed_hosts"),
            allowed_origins: self.list("http.allowed_origins"),
        }
    }

    fn hooks(&self) -> Option<HooksTable> {
        Some(HooksTable {
            pre_leader: self.path("hooks.pre_leader"),
            leader: self.path("hooks.leader"),
            member: self.path("hooks.member"),
            suspended: self.path("hooks.suspended"),
            members: self.path("hooks.members"),
            stop: self.path("hooks.stop"),
            any: self.path("hooks.any"),
            timeout: self.span("hooks.timeout")?,
        })
    }

    fn health(&self) -> Option<HealthTable> {
        let command = self.list("health.command");
        if command.is_empty() {
            return None;
        }
        Some(HealthTable {
            command,
            every: self.span("health.every")?,
            timeout: self.span("health.timeout")?,
            fail_after: self.number("health.fail_after")?,
        })
    }

    fn on_job_lost(&self) -> OnJobLost {
        match self.text("on_job_lost").as_deref() {
            Some("wait") => OnJobLost::Wait,
            Some(_) | None => OnJobLost::StepDown,
        }
    }

    fn log(&self) -> LogTable {
        let is_json = self.text("log.format").as_deref() == Some("json");
        let level = match self.text("log.level").as_deref() {
            Some("error") => LogLevel::Error,
            Some("warn") => LogLevel::Warn,
            Some("debug") => LogLevel::Debug,
            Some("trace") => LogLevel::Trace,
            Some(_) | None => LogLevel::Info,
        };
        LogTable { format: if is_json { LogFormat::Json } else { LogFormat::Text }, level }
    }

    fn texts(&self, table: &str) -> BTreeMap<String, String> {
        let entries = self.0.entries(table);
        entries.map(|(name, setting)| (name.to_owned(), setting.value.to_string())).collect()
    }

    fn text(&self, name: &str) -> Option<String> {
        self.0.value(name).map(Value::to_string)
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.0.value(name).and_then(Value::as_number)
    }

    fn span(&self, name: &str) -> Option<Duration> {
        self.0.value(name).and_then(Value::as_span)
    }

    fn address(&self, name: &str) -> Option<SocketAddr> {
        self.0.value(name).and_then(Value::as_address)
    }

    fn list(&self, name: &str) -> Vec<String> {
        self.0.value(name).map_or_else(Vec::new, |value| value.as_list().to_vec())
    }
}
