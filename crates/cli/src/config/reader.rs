//! Typed values out of settings that were checked.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tanist::Algorithm;

use super::draft::Settings;
use super::origin::Finding;
use super::timing::TimingTable;
use super::value::{Preempt, Value};
use super::{Config, Health, Hooks, Http, Log, LogFormat, LogLevel};

/// Settings that were checked, as typed values.
pub(super) struct Reader<'a>(pub(super) &'a Settings);

impl Reader<'_> {
    /// None if something that is required is missing, which the check has told.
    pub(super) fn config(&self, warnings: Vec<Finding>) -> Option<Config> {
        let entries = |table| self.0.entries(table);
        Some(Config {
            group: self.text("group")?,
            node: self.text("node")?,
            peers: self.list("peers"),
            peers_version: self.number("peers_version")?,
            priority: self.number("priority"),
            priorities: entries("priorities")
                .filter_map(|(name, _)| {
                    self.number(&format!("priorities.{name}")).map(|rank| (name.to_owned(), rank))
                })
                .collect(),
            preempt: match self.value("preempt") {
                Some(Value::Preempt(preempt)) => *preempt,
                _ => Preempt::default(),
            },
            algorithm: match self.value("algorithm") {
                Some(Value::Algorithm(algorithm)) => *algorithm,
                _ => Algorithm::Invitation,
            },
            options: entries("options")
                .map(|(name, setting)| (name.to_owned(), setting.value.to_string()))
                .collect(),
            data_dir: self.path("data_dir")?,
            key_file: self.path("key_file")?,
            socket: self.path("socket"),
            listen: self.address("listen"),
            trace: self.path("trace"),
            timing: TimingTable::of(self.0),
            http: self.http(),
            hooks: self.hooks(),
            health: self.health(),
            log: self.log(),
            work: self.number("work"),
            warnings,
            settings: self.0.clone(),
        })
    }

    fn http(&self) -> Option<Http> {
        let http = Http {
            listen: self.address("http.listen"),
            agent_check: self.address("http.agent_check"),
            token_file: self.path("http.token_file"),
            allowed_hosts: self.list("http.allowed_hosts"),
            allowed_origins: self.list("http.allowed_origins"),
        };
        let is_served = http.listen.is_some() || http.agent_check.is_some();
        is_served.then_some(http)
    }

    fn hooks(&self) -> Option<Hooks> {
        let is_hook = |name: &str| name.starts_with("hooks.") && name != "hooks.timeout";
        self.0.iter().any(|(name, _)| is_hook(name)).then_some(())?;
        Some(Hooks {
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

    fn health(&self) -> Option<Health> {
        let command = self.list("health.command");
        if command.is_empty() {
            return None;
        }
        Some(Health {
            command,
            every: self.span("health.every")?,
            timeout: self.span("health.timeout")?,
            fail_after: self.number("health.fail_after")?,
        })
    }

    fn log(&self) -> Log {
        let is_json = self.text("log.format").as_deref() == Some("json");
        let level = match self.text("log.level").as_deref() {
            Some("error") => LogLevel::Error,
            Some("warn") => LogLevel::Warn,
            Some("debug") => LogLevel::Debug,
            Some("trace") => LogLevel::Trace,
            Some(_) | None => LogLevel::Info,
        };
        Log { format: if is_json { LogFormat::Json } else { LogFormat::Text }, level }
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).map(|setting| &setting.value)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.value(name).map(Value::to_string)
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    fn number(&self, name: &str) -> Option<u32> {
        if let Some(Value::Number(number)) = self.value(name) { Some(*number) } else { None }
    }

    fn span(&self, name: &str) -> Option<Duration> {
        if let Some(Value::Duration(span)) = self.value(name) { Some(*span) } else { None }
    }

    fn address(&self, name: &str) -> Option<SocketAddr> {
        if let Some(Value::Address(address)) = self.value(name) { Some(*address) } else { None }
    }

    fn list(&self, name: &str) -> Vec<String> {
        match self.value(name) {
            Some(Value::List(texts)) => texts.clone(),
            _ => Vec::new(),
        }
    }
}
