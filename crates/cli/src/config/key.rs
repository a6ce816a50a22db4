//! Every key that a configuration may have: its kind, its default, what a change of it takes.
//!
//! One list feeds the file, the environment, `--set`, `config show` and reloading, so that a key
//! cannot be known to one of them and unknown to another. Names are dotted, as `--set` takes them;
//! the environment's are the same in capitals: `timing.heartbeat` is `TANIST_TIMING_HEARTBEAT`.

use tanist::Builder;

use super::value::Value;

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its dotted name.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Its value where none is given, as `--set` takes it.
    pub(crate) default: Option<&'static str>,
    pub(crate) effect: Effect,
    /// A value to show as an example, as in a file.
    pub(crate) example: &'static str,
    /// What it says.
    pub(crate) about: &'static str,
    /// For a setting of the group: how the node is told of it.
    pub(crate) tell: Option<fn(Builder, &Value) -> Builder>,
}

/// What a value must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Path,
    /// An address to listen on, with its port.
    Address,
    Number,
    Bool,
    Duration,
    Algorithm,
    Preempt,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Texts.
    List,
    /// A table whose keys are the user's own, with texts.
    Texts,
    /// The same with numbers.
    Numbers,
}

/// What it takes for a changed value to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// A reload.
    Live,
    /// A new start of the agent.
    NeedsRestart,
}

impl Key {
    /// The key with a dotted name; an entry of a table such as `options.waits` finds the table.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        let has_entry = |key: &&Self| {
            let entry = name.strip_prefix(key.name).and_then(|rest| rest.strip_prefix('.'));
            key.is_table() && entry.is_some()
        };
        KEYS.iter()
            .find(|key| key.name == name && !key.is_table())
            .or_else(|| KEYS.iter().find(has_entry))
    }

    /// Where the key with a dotted name stands in [`KEYS`]; whatever is none comes last.
    pub(crate) fn place(name: &str) -> usize {
        let found = Self::find(name).map_or("", |key| key.name);
        KEYS.iter().position(|key| key.name == found).unwrap_or(KEYS.len())
    }

    /// Whether its entries are named by the user.
    pub(crate) const fn is_table(&self) -> bool {
        matches!(self.kind, Kind::Texts | Kind::Numbers)
    }

    /// Its variable of the environment.
    pub(crate) fn variable(&self) -> String {
        format!("TANIST_{}", self.name.replace('.', "_").to_uppercase())
    }

    /// Its name inside its own table.
    pub(crate) fn last_name(&self) -> &'static str {
        self.name.rsplit_once('.').map_or(self.name, |(_, last)| last)
    }
}

/// A key of the top level or of a table, that needs a restart.
const fn key(name: &'static str, kind: Kind, example: &'static str, about: &'static str) -> Key {
    let (default, effect) = (None, Effect::NeedsRestart);
    Key { name, kind, default, effect, example, about, tell: None }
}

const fn with_default(key: Key, default: &'static str) -> Key {
    Key { default: Some(default), ..key }
}

/// A setting of the group, which the node is told as it is.
const fn told(key: Key, tell: fn(Builder, &Value) -> Builder) -> Key {
    Key { tell: Some(tell), ..key }
}

const fn live(key: Key) -> Key {
    Key { effect: Effect::Live, ..key }
}

/// All keys, in the order in which they are shown.
pub(crate) const KEYS: &[Key] = &[
    key("group", Kind::Text, "\"billing\"", "the name of the group, the same on all nodes"),
    key("node", Kind::Text, "\"n1\"", "which node this is; else the host's name"),
    key(
        "peers",
        Kind::List,
        "[\"n1=10.0.0.1:7400\", \"n2=10.0.0.2:7400\"]",
        "all nodes with their addresses, this one included",
    ),
    with_default(key("peers_version", Kind::Number, "1", "which version of that list it is"), "1"),
    live(key("priority", Kind::Number, "10", "this node's own; else its number")),
    key("priorities", Kind::Numbers, "{ n1 = 30 }", "of all nodes, the same on all nodes"),
    key("zones", Kind::Texts, "{ n1 = \"north\" }", "where nodes are, the same on all nodes"),
    key("racks", Kind::Texts, "{ n1 = \"r7\" }", "what may fail together, the same on all nodes"),
    told(
        key(
            "preempt",
            Kind::Preempt,
            "\"never\"",
            "a higher node takes over: never, always, after 30s",
        ),
        |builder, value| match value.as_preempt() {
            Some(preempt) => builder.preempt(preempt),
            None => builder,
        },
    ),
    with_default(
        key("algorithm", Kind::Algorithm, "\"invitation\"", "who elects: tanist algorithms"),
        "invitation",
    ),
    key("options", Kind::Texts, "{ waits = \"early\" }", "of the algorithm: tanist algorithms"),
    key("data_dir", Kind::Path, "\"/var/lib/tanist\"", "where the node keeps its counter"),
    live(key(
        "key_file",
        Kind::Path,
        "\"/etc/tanist/group.key\"",
        "the group's keys: tanist keygen, tanist key",
    )),
    key("socket", Kind::Path, "\"/run/tanist/billing.sock\"", "where tanist status and others ask"),
    key(
        "listen",
        Kind::Address,
        "\"0.0.0.0:7400\"",
        "where to listen, if not at the peer's address",
    ),
    key("trace", Kind::Path, "\"/var/log/tanist.jsonl\"", "a file for everything the node does"),
    live(with_default(
        key(
            "on_job_lost",
            Kind::Choice(&["step-down", "wait"]),
            "\"step-down\"",
            "an attached tanist run dies: step-down, wait",
        ),
        "step-down",
    )),
    live(key(
        "identity.key_file",
        Kind::Path,
        "\"/etc/tanist/node.key\"",
        "this node's own key: tanist keygen --node",
    )),
    live(key(
        "identity.peer_keys",
        Kind::Texts,
        "{ n1 = \"tanist-node-1:…\" }",
        "public keys of all nodes, as keygen prints them",
    )),
    live(with_default(
        key("identity.require", Kind::Bool, "true", "peers must prove theirs; false to migrate"),
        "true",
    )),
    with_default(
        key("timing.message_max", Kind::Duration, "\"50ms\"", "Tm: a message arrives within this"),
        "50ms",
    ),
    with_default(
        key("timing.processing_max", Kind::Duration, "\"50ms\"", "Tp: and is answered within that"),
        "50ms",
    ),
    with_default(
        key("timing.heartbeat", Kind::Duration, "\"250ms\"", "how often signs of life are sent"),
        "250ms",
    ),
    with_default(
        key("timing.suspect_after", Kind::Duration, "\"1s\"", "silence that is suspicious"),
        "1s",
    ),
    with_default(
        key(
            "timing.check_every",
            Kind::Duration,
            "\"2s\"",
            "how often other groups are looked for",
        ),
        "2s",
    ),
    with_default(
        key(
            "timing.stop_within",
            Kind::Duration,
            "\"30s\"",
            "how long a job may take to stop; then others go on",
        ),
        "30s",
    ),
    key(
        "radio.interfaces",
        Kind::List,
        "[\"wlan0\"]",
        "reach neighbours by broadcast on these, or [\"all\"]",
    ),
    with_default(
        key("radio.port", Kind::Number, "7400", "the UDP port of that, the same on all nodes"),
        "7400",
    ),
    with_default(
        key(
            "radio.group",
            Kind::Text,
            "\"broadcast\"",
            "broadcast, or a multicast address, the same on all nodes",
        ),
        "broadcast",
    ),
    key("http.listen", Kind::Address, "\"127.0.0.1:7480\"", "the HTTP interface"),
    key("http.agent_check", Kind::Address, "\"0.0.0.0:7482\"", "the line that HAProxy asks for"),
    live(key(
        "http.token_file",
        Kind::Path,
        "\"/etc/tanist/token\"",
        "who has it may change things",
    )),
    live(key("http.allowed_hosts", Kind::List, "[\"n1.example.com\"]", "names it may be asked by")),
    live(key(
        "http.allowed_origins",
        Kind::List,
        "[\"https://ops.example.com\"]",
        "pages that may ask",
    )),
    live(key("hooks.pre_leader", Kind::Path, HOOK, "runs before this node leads, and may refuse")),
    live(key("hooks.leader", Kind::Path, HOOK, "runs when this node leads")),
    live(key("hooks.member", Kind::Path, HOOK, "runs when this node follows")),
    live(key("hooks.suspended", Kind::Path, HOOK, "runs when this node is between groups")),
    live(key("hooks.members", Kind::Path, HOOK, "runs when the members change")),
    live(key("hooks.stop", Kind::Path, HOOK, "runs when the agent ends")),
    live(key("hooks.any", Kind::Path, HOOK, "runs after each of the others")),
    live(with_default(
        key("hooks.timeout", Kind::Duration, "\"10s\"", "a hook that runs longer is ended"),
        "10s",
    )),
    live(key(
        "health.command",
        Kind::List,
        "[\"/usr/bin/check\", \"-q\"]",
        "exits with 0: fit to lead",
    )),
    live(with_default(key("health.every", Kind::Duration, "\"5s\"", "how often it runs"), "5s")),
    live(with_default(
        key("health.timeout", Kind::Duration, "\"2s\"", "longer counts as failed"),
        "2s",
    )),
    live(with_default(
        key("health.fail_after", Kind::Number, "3", "so many failures in a row: withdraw"),
        "3",
    )),
    with_default(
        key("log.format", Kind::Choice(&["text", "json"]), "\"text\"", "how the log is written"),
        "text",
    ),
    live(with_default(
        key("log.level", Kind::Choice(LEVELS), "\"info\"", "what is logged"),
        "info",
    )),
    key("work", Kind::Number, "100", "for experiments: pieces of work for the group to share"),
];

const HOOK: &str = "\"/etc/tanist/hook\"";
/// From the quietest to the loudest.
pub(crate) const LEVELS: &[&str] = &["error", "warn", "info", "debug", "trace"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_keys_share_a_variable() {
        let mut variables: Vec<String> = KEYS.iter().map(Key::variable).collect();
        variables.sort();
        variables.dedup();
        assert_eq!(variables.len(), KEYS.len());
        assert!(variables.contains(&"TANIST_TIMING_HEARTBEAT".to_owned()));
    }

    #[test]
    fn every_key_is_documented_with_its_default() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/config.md");
        let page = std::fs::read_to_string(path).unwrap();
        for key in KEYS {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", key.name)));
            let row = row.unwrap_or_else(|| panic!("{} is not in docs/config.md", key.name));
            let default = key.default.map_or_else(String::new, |text| format!("`{text}`"));
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            assert_eq!(cells[3], default, "{row}");
            assert_eq!(cells[4] == "reload", key.effect == Effect::Live, "{row}");
        }
    }

    #[test]
    fn an_entry_finds_its_table_and_a_table_is_no_value() {
        assert_eq!(Key::find("options.waits").map(|key| key.name), Some("options"));
        assert_eq!(Key::find("timing.heartbeat").map(|key| key.last_name()), Some("heartbeat"));
        let listed = Key::find("identity.peer_keys.n1").map(|key| key.name);
        assert_eq!(listed, Some("identity.peer_keys"));
        assert!(Key::find("identity.peer_keys").is_none());
        assert!(Key::find("options").is_none());
        assert!(Key::find("timing").is_none());
        assert!(Key::find("timing.heartbeats").is_none());
    }
}
