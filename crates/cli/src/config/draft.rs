//! A configuration while it is put together: layer over layer, every mistake kept.
//!
//! A later layer replaces what an earlier one gave, value by value; of a table such as `options`
//! it replaces only the entries that it names. Nothing here looks at two keys together: check.rs
//! does.

use std::collections::BTreeMap;

use super::key::{Effect, KEYS, Key};
use super::origin::{Finding, Origin, Severity};
use super::value::Value;
use crate::library::nearest;

/// Values with their origins, and what is wrong with them.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) settings: Settings,
    pub(crate) findings: Vec<Finding>,
    /// Whether a file could not be read as one: then keys are missing that may be there.
    pub(crate) is_file_lost: bool,
}

/// Values with their origins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings(BTreeMap<String, Setting>);

/// A value with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
    /// For a list from a file, where each of its items stands.
    pub(crate) items: Vec<Origin>,
}

impl Settings {
    /// The setting with a dotted name.
    pub(crate) fn get(&self, name: &str) -> Option<&Setting> {
        self.0.get(name)
    }

    /// The value with a dotted name.
    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        self.get(name).map(|setting| &setting.value)
    }

    /// Where a value comes from; a value that is not there is a default.
    pub(crate) fn origin(&self, name: &str) -> Origin {
        self.get(name).map_or(Origin::Default, |setting| setting.origin.clone())
    }

    /// The entries of a table whose keys are the user's own, by their own names.
    pub(crate) fn entries(&self, table: &str) -> impl Iterator<Item = (&str, &Setting)> {
        let prefix = format!("{table}.");
        self.0.iter().filter_map(move |(name, setting)| {
            name.strip_prefix(&prefix).map(|entry| (entry, setting))
        })
    }

    /// Everything, in the order of [`KEYS`].
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        KEYS.iter().flat_map(|key| {
            self.0
                .iter()
                .filter(|(name, _)| Key::find(name).is_some_and(|found| found.name == key.name))
                .map(|(name, setting)| (name.as_str(), setting))
        })
    }

    /// These, with newer ones for the keys that a reload can change.
    pub(super) fn with_live_values_of(&self, new: &Self) -> Self {
        let is_live = |name: &str| Key::find(name).is_some_and(|key| key.effect == Effect::Live);
        let kept = self.0.iter().filter(|(name, _)| !is_live(name));
        let renewed = new.0.iter().filter(|(name, _)| is_live(name));
        let all = kept.chain(renewed).map(|(name, setting)| (name.clone(), setting.clone()));
        Self(all.collect())
    }

    /// Puts a value over what earlier layers gave.
    pub(crate) fn put(&mut self, name: &str, value: Value, origin: Origin) {
        let setting = Setting { value, origin, items: Vec::new() };
        self.0.insert(name.to_owned(), setting);
    }

    /// Says where the items of a list stand.
    pub(crate) fn place_items(&mut self, name: &str, items: Vec<Origin>) {
        if let Some(setting) = self.0.get_mut(name) {
            setting.items = items;
        }
    }
}

impl Draft {
    /// Puts the defaults under everything.
    pub(crate) fn put_defaults(&mut self) {
        for key in KEYS {
            if let Some(text) = key.default {
                let value = Value::from_text(key, text).expect("a test reads every default");
                self.settings.put(key.name, value, Origin::Default);
            }
        }
    }

    /// Puts a value that is given as text: by a flag or by the environment.
    pub(crate) fn put_text(&mut self, name: &str, text: &str, origin: Origin) {
        if let Some(table) = KEYS.iter().find(|key| key.is_table() && key.name == name) {
            return self.put_pairs(table, text, &origin);
        }
        let Some(key) = Key::find(name) else {
            return self.refuse(origin, None, unknown(name));
        };
        match Value::from_text(key, text) {
            Ok(value) => self.settings.put(name, value, origin),
            Err(what) => self.refuse(origin, Some(name), what),
        }
    }

    /// Puts `n1=30,n2=20` into a table.
    fn put_pairs(&mut self, table: &Key, text: &str, origin: &Origin) {
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some((entry, value)) => {
                    self.put_text(&format!("{}.{entry}", table.name), value, origin.clone());
                }
                None => {
                    let what = format!("`{pair}` is not a pair; write NAME=VALUE,NAME=VALUE");
                    self.refuse(origin.clone(), Some(table.name), what);
                }
            }
        }
    }

    /// Notes a mistake.
    pub(crate) fn refuse(&mut self, place: Origin, key: Option<&str>, what: impl Into<String>) {
        let key = key.map(str::to_owned);
        self.findings.push(Finding { severity: Severity::Error, place, key, what: what.into() });
    }

    /// Notes that the system does not give something at this moment.
    pub(crate) fn lack(&mut self, place: Origin, what: impl Into<String>) {
        let (severity, what) = (Severity::Unavailable, what.into());
        self.findings.push(Finding { severity, place, key: None, what });
    }

    /// Notes something that may not be meant.
    pub(crate) fn warn(&mut self, place: Origin, key: Option<&str>, what: impl Into<String>) {
        let key = key.map(str::to_owned);
        self.findings.push(Finding { severity: Severity::Warning, place, key, what: what.into() });
    }

    /// Whether no agent can start with it.
    pub(crate) fn is_refused(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity.is_error())
    }
}

/// What to say of a dotted name that is no key.
pub(crate) fn unknown(name: &str) -> String {
    let what = format!("there is no key `{name}`");
    let (table, last) = name.rsplit_once('.').map_or(("", name), |(table, last)| (table, last));
    let is_table = KEYS.iter().any(|key| key.name.starts_with(&format!("{name}.")));
    if is_table {
        return format!("`{name}` is a table, not a value; its keys are {}", keys_of(name));
    }
    // The right name in the wrong table is a likelier slip than a similar name.
    if let Some(elsewhere) = KEYS.iter().find(|key| key.last_name() == last) {
        let move_it = match elsewhere.name.split_once('.') {
            Some((table, _)) => format!("it belongs into [{table}]"),
            None => format!("it belongs to the top of the file, above [{table}]"),
        };
        return format!("{what}; `{}` is one, so {move_it}", elsewhere.name);
    }
    let siblings: Vec<&str> = KEYS
        .iter()
        .filter(|key| key.name.rsplit_once('.').is_some_and(|(of, _)| of == table))
        .map(Key::last_name)
        .collect();
    let (given, siblings) = match (table, siblings.is_empty()) {
        ("", _) => (last, top_level()),
        (_, true) => (table, top_level()),
        (_, false) => (last, siblings),
    };
    match nearest(given, &siblings).first() {
        Some(near) => format!("{what}; did you mean `{near}`?"),
        None => format!("{what}; there are {}", siblings.join(", ")),
    }
}

fn top_level() -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for key in KEYS {
        let name = key.name.split_once('.').map_or(key.name, |(table, _)| table);
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    names
}

fn keys_of(table: &str) -> String {
    let prefix = format!("{table}.");
    let names: Vec<&str> = KEYS.iter().filter_map(|key| key.name.strip_prefix(&prefix)).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value() {
        let mut draft = Draft::default();
        draft.put_defaults();
        assert_eq!(
            draft.settings.get("log.level").map(|s| s.value.to_string()).as_deref(),
            Some("info")
        );
        assert!(draft.settings.iter().all(|(_, setting)| !setting.origin.is_given()));
    }

    #[test]
    fn a_later_layer_replaces_only_what_it_names() {
        let mut draft = Draft::default();
        let (file, flag) = (Origin::Variable("A".to_owned()), Origin::Flag("--set".to_owned()));
        draft.put_text("priorities", "n1=30, n2=20", file);
        draft.put_text("priorities.n2", "7", flag);
        let all: Vec<String> = draft
            .settings
            .entries("priorities")
            .map(|(name, setting)| format!("{name} {} {}", setting.value, setting.origin))
            .collect();
        assert_eq!(all, ["n1 30 A", "n2 7 --set"]);
        assert!(draft.findings.is_empty());
    }

    #[test]
    fn an_unknown_key_leads_to_the_one_that_was_meant() {
        assert!(unknown("timing.heartbeet").contains("did you mean `heartbeat`?"));
        assert!(unknown("algorythm").contains("did you mean `algorithm`?"));
        assert!(unknown("hook").contains("did you mean `hooks`?"));
        assert!(unknown("hook.leader").contains("belongs into [hooks]"));
        assert!(unknown("timng.beat").contains("did you mean `timing`?"));
        assert!(unknown("heartbeat").contains("belongs into [timing]"));
        assert!(unknown("timing.group").contains("above [timing]"));
        assert!(unknown("timing").contains("suspect_after"));
        assert!(unknown("zzzzzzzzzzzzz").contains("group, node, peers"));
    }
}
