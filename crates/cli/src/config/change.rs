//! What is different between two configurations, and what it takes for that to count.

use std::fmt;

use super::Config;
use super::key::{Effect, Key};

/// One value that is different.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Change {
    /// The dotted name of its key.
    pub(crate) key: String,
    /// What it was, if it was anything.
    pub(crate) from: Option<String>,
    /// What it is, if it is anything.
    pub(crate) to: Option<String>,
    pub(crate) effect: Effect,
}

impl Config {
    /// What is different from an older one, in the order of the keys. Where a value comes from does
    /// not matter.
    pub(crate) fn changes_against(&self, old: &Self) -> Vec<Change> {
        let value = |config: &Self, name: &str| {
            config.settings.get(name).map(|setting| setting.value.to_string())
        };
        let gone = old.settings.iter().filter(|(name, _)| self.settings.get(name).is_none());
        let names = self.settings.iter().chain(gone).map(|(name, _)| name);
        let mut changes: Vec<Change> = names
            .filter_map(|name| {
                let (from, to) = (value(old, name), value(self, name));
                let key = Key::find(name).filter(|_| from != to)?;
                Some(Change { key: name.to_owned(), from, to, effect: key.effect })
            })
            .collect();
        changes.sort_by_key(|change| Key::place(&change.key));
        changes
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        write!(f, "{}: {} -> {}", self.key, shown(&self.from), shown(&self.to))?;
        match self.effect {
            Effect::Live => Ok(()),
            Effect::NeedsRestart => f.write_str(" (needs a restart)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sources;
    use super::*;

    fn config(flags: &[(&str, &str)]) -> Config {
        let base = [
            ("group", "billing"),
            ("node", "n1"),
            ("peers", "n1=10.0.0.1:7400,n2=10.0.0.2:7400"),
            ("data_dir", "/nowhere"),
            ("key_file", "/nowhere/key"),
        ];
        let flags = base.iter().chain(flags);
        let flags =
            flags.map(|(key, value)| ("--set".to_owned(), (*key).to_owned(), (*value).to_owned()));
        Config::load(&Sources { flags: flags.collect(), ..Sources::default() }).unwrap()
    }

    fn lines(new: &[(&str, &str)], old: &[(&str, &str)]) -> Vec<String> {
        config(new).changes_against(&config(old)).iter().map(Change::to_string).collect()
    }

    #[test]
    fn nothing_changes_if_only_the_origin_does() {
        assert!(lines(&[("timing.heartbeat", "250ms")], &[]).is_empty());
        assert!(lines(&[("timing.heartbeat", "0.25s")], &[]).is_empty());
    }

    #[test]
    fn what_a_reload_can_do_is_told_from_what_needs_a_restart() {
        let new = [
            ("log.level", "debug"),
            ("priority", "50"),
            ("hooks.leader", "/bin/true"),
            ("http.allowed_hosts", "a,b"),
            ("http.listen", "127.0.0.1:7480"),
            ("health.command", "/bin/true"),
            ("timing.suspect_after", "3s"),
            ("group", "other"),
        ];
        let old = [("log.level", "warn"), ("hooks.stop", "/bin/false")];
        assert_eq!(
            lines(&new, &old),
            [
                "group: billing -> other (needs a restart)",
                "priority: nothing -> 50",
                "timing.suspect_after: 1s -> 3s (needs a restart)",
                "http.listen: nothing -> 127.0.0.1:7480 (needs a restart)",
                "http.allowed_hosts: nothing -> a,b",
                "hooks.leader: nothing -> /bin/true",
                "hooks.stop: /bin/false -> nothing",
                "health.command: nothing -> /bin/true",
                "log.level: warn -> debug",
            ]
        );
    }

    #[test]
    fn an_entry_of_a_table_is_a_change_of_its_own() {
        let old = [("priorities.n1", "5"), ("priorities.n2", "6")];
        let new = [("priorities.n1", "7")];
        assert_eq!(
            lines(&new, &old),
            [
                "priorities.n1: 5 -> 7 (needs a restart)",
                "priorities.n2: 6 -> nothing (needs a restart)",
            ]
        );
    }
}
