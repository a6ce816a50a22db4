//! What must hold between the values of a configuration. Every mistake is noted, not only the
//! first, each at the place of the value that is likeliest to be the slip.
//!
//! Left out: whether files and directories are there. That is surroundings.rs, and only asked for.

use std::time::Duration;

use tanist::{Algorithm, StartError, parse_node};
use tanist_core::duration;
use tanist_core::options::Options;
use tanist_core::timing::{Timing, TimingError};

use super::Config;
use super::draft::Draft;
use super::identity;
use super::key::{KEYS, Key};
use super::labels;
use super::origin::{Finding, Origin, Severity};
use super::radio;
use super::timing::TimingTable;
use super::value::Value;
use crate::library::nearest;

/// Notes everything that does not fit together. `file` is where missing keys belong.
pub(crate) fn check(draft: &mut Draft, file: &Origin) {
    check_peers(draft);
    check_node(draft, file);
    for name in ["group", "peers", "data_dir", "key_file"] {
        if draft.settings.get(name).is_none() && !is_noted(draft, name) {
            refuse_missing(draft, file, name);
        }
    }
    for table in ["priorities", "zones", "racks", "identity.peer_keys"] {
        check_strangers(draft, table);
    }
    check_algorithm(draft);
    radio::check(draft);
    labels::check(draft);
    identity::check(draft);
    check_timing(draft);
    check_counts(draft);
}

fn is_noted(draft: &Draft, name: &str) -> bool {
    draft.findings.iter().any(|finding| finding.key.as_deref() == Some(name))
}

fn refuse_missing(draft: &mut Draft, file: &Origin, name: &str) {
    let key = Key::find(name).expect("only keys are required");
    let what = format!(
        "it is missing: {}; write {name} = {}, or set {}",
        key.about,
        key.example,
        key.variable()
    );
    draft.refuse(file.clone(), Some(name), what);
}

/// The peers that are named well, with the place of each.
fn check_peers(draft: &mut Draft) {
    let Some(setting) = draft.settings.get("peers").cloned() else { return };
    let peers = setting.value.as_list();
    if peers.is_empty() {
        let what = "it is empty; write all nodes, this one included";
        return draft.refuse(setting.origin, Some("peers"), what);
    }
    let is_radio = radio::is_on(&draft.settings);
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for (at, peer) in peers.iter().enumerate() {
        let place = setting.items.get(at).unwrap_or(&setting.origin).clone();
        let read = if is_radio { read_peer(peer) } else { split_peer(peer) };
        let Some((name, address)) = read else {
            let example = if is_radio { "n1" } else { "n1=10.0.0.1:7400" };
            let what = format!("`{peer}` is not a peer; write {example}");
            draft.refuse(place, Some("peers"), what);
            continue;
        };
        if seen.iter().any(|(other, _)| *other == name) {
            let what = format!("{name} is listed twice; every node has a name of its own");
            draft.refuse(place.clone(), Some("peers"), what);
        }
        let same = seen.iter().find(|(_, other)| *other == address && !address.is_empty());
        if let Some((other, _)) = same {
            let what = format!("{name} has the address of {other}, {address}; give it its own");
            draft.refuse(place, Some("peers"), what);
        }
        seen.push((name, address));
    }
}

/// Name and address of `n1=10.0.0.1:7400`.
pub(crate) fn split_peer(peer: &str) -> Option<(&str, &str)> {
    let (name, address) = peer.split_once('=')?;
    parse_node(name)?;
    let (host, port) = address.rsplit_once(':')?;
    let is_address = !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0);
    is_address.then_some((name, address))
}

/// Name and address of a peer; by radio, a name without an address.
pub(crate) fn read_peer(peer: &str) -> Option<(&str, &str)> {
    split_peer(peer).or_else(|| parse_node(peer).map(|_| (peer, "")))
}

/// The names of all peers, each once.
pub(crate) fn peer_names(draft: &Draft) -> Vec<String> {
    let peers = draft.settings.value("peers").map_or(&[][..], Value::as_list);
    let names = peers.iter().filter_map(|peer| read_peer(peer).map(|(name, _)| name.to_owned()));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}

fn check_node(draft: &mut Draft, file: &Origin) {
    let names = peer_names(draft);
    let Some(setting) = draft.settings.get("node").cloned() else {
        if is_noted(draft, "node") {
            return;
        }
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let short = leading_part(&host);
        if names.iter().any(|name| name == short) {
            return draft.settings.put("node", Value::Text(short.to_owned()), Origin::Hostname);
        }
        let what = format!(
            "it is missing, and the host's name `{short}` is not a peer's; write node = \"n1\", \
             set TANIST_NODE or give --node"
        );
        return draft.refuse(file.clone(), Some("node"), what);
    };
    let name = setting.value.to_string();
    if parse_node(&name).is_none() {
        let what = format!("`{name}` is not a node: nodes are n1, n2, n3 and so on");
        draft.refuse(setting.origin, Some("node"), what);
    } else if !names.is_empty() && !names.contains(&name) {
        let what = format!("`{name}` is not one of the peers {}; add it there", names.join(", "));
        draft.refuse(setting.origin, Some("node"), what);
    }
}

/// `n1` of `n1.example.com`.
fn leading_part(host: &str) -> &str {
    host.split('.').next().unwrap_or_default()
}

/// Entries of a table by nodes that name none.
fn check_strangers(draft: &mut Draft, table: &str) {
    let names = peer_names(draft);
    let strangers: Vec<(String, Origin)> = draft
        .settings
        .entries(table)
        .filter(|(name, _)| !names.is_empty() && !names.iter().any(|known| known == name))
        .map(|(name, setting)| (name.to_owned(), setting.origin.clone()))
        .collect();
    for (name, place) in strangers {
        let what = format!("{name} is not one of the peers {}", names.join(", "));
        draft.refuse(place, Some(&format!("{table}.{name}")), what);
    }
}

fn check_algorithm(draft: &mut Draft) {
    let algorithm = draft.settings.value("algorithm").and_then(Value::as_algorithm);
    // Of an algorithm that was refused when it was read, the options cannot be judged.
    let Some(algorithm) = algorithm.filter(|_| !is_noted(draft, "algorithm")) else { return };
    let mut options = Options::default();
    let given: Vec<(String, String, Origin)> = draft
        .settings
        .entries("options")
        .map(|(name, setting)| (name.to_owned(), setting.value.to_string(), setting.origin.clone()))
        .collect();
    for (name, value, place) in given {
        if let Err(error) = options.set(algorithm, &name, &value) {
            let known: Vec<&str> = algorithm.options().iter().map(|option| option.name).collect();
            let near = nearest(&name, &known).first().copied().filter(|near| *near != name);
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let what = format!("{error}{hint}");
            draft.refuse(place, Some(&format!("options.{name}")), what);
        }
    }
    check_priority(draft, algorithm, &options);
}

/// Whether a node may have a priority that the others are told.
fn check_priority(draft: &mut Draft, algorithm: Algorithm, options: &Options) {
    let Some(setting) = draft.settings.get("priority").cloned() else { return };
    let name = algorithm.name();
    let adjustable = algorithm.descriptor().adjustable;
    let what = match adjustable.and_then(|adjustable| adjustable.priorities) {
        Some(may_change) => may_change(options).err().map(|error| error.to_string()),
        None => Some(format!(
            "with {name} all nodes must know all priorities; write priorities = {{ n1 = … }}, the \
             same on all nodes"
        )),
    };
    if let Some(what) = what {
        draft.refuse(setting.origin, Some("priority"), what);
    }
}

/// Whether a node can be made of it: what the core asks of algorithm, options and members.
pub(super) fn fits(config: &Config) -> Result<(), Finding> {
    let refuse = |keys: &[&str], what: String| {
        let settings = &config.settings;
        let given = keys.iter().find(|key| settings.origin(key).is_given());
        let key = given.or(keys.first()).copied();
        let place = key.map_or(Origin::Default, |key| settings.origin(key));
        Err(Finding { severity: Severity::Error, place, key: key.map(str::to_owned), what })
    };
    if let Err(error) = config.builder().check() {
        let keys: &[&str] = if let StartError::Preempt(_) = error {
            &["preempt", "options.policy", "algorithm"]
        } else if let StartError::Hierarchy(_) = error {
            &["options", "algorithm"]
        } else if let StartError::NoHandover(_) = error {
            &["algorithm"]
        } else if let StartError::Timing(_) = error {
            &["timing.suspect_after"]
        } else if let StartError::Label(_) = error {
            &["zones", "racks"]
        } else if let StartError::Option(_) = error {
            &["options"]
        } else {
            &["peers"]
        };
        return refuse(keys, error.to_string());
    }
    Ok(())
}

/// Says in the words of the file what the core says in those of the theory.
fn check_timing(draft: &mut Draft) {
    let table = TimingTable::of(&draft.settings);
    let Err(error) = Timing::new(table.config()) else { return };
    let span = |name: &str| draft.settings.value(name).and_then(Value::as_span).unwrap_or_default();
    let (names, what): (&[&str], String) = match error {
        TimingError::TooShort { least, .. } => (
            &SILENCE,
            format!(
                "suspect_after = {}, but heartbeat {} + message_max {} + processing_max {} = {}: \
                 a node that is alive would be taken for dead; make suspect_after at least {}, \
                 better {}",
                duration::print(span(SILENCE[0])),
                duration::print(span(SILENCE[1])),
                duration::print(span(SILENCE[2])),
                duration::print(span(SILENCE[3])),
                duration::print(least),
                duration::print(least),
                duration::print(least + span(SILENCE[1])),
            ),
        ),
        TimingError::Zero { .. } => (
            &["timing.message_max", "timing.check_every", "timing.heartbeat"],
            "it must be longer than zero; leave it out for its default".to_owned(),
        ),
    };
    let is_zero = matches!(error, TimingError::Zero { .. });
    let culprit = names
        .iter()
        .find(|name| draft.settings.origin(name).is_given() && (!is_zero || span(name).is_zero()))
        .copied()
        .unwrap_or(names[0]);
    let place = draft.settings.origin(culprit);
    draft.refuse(place, Some(culprit), what);
}

/// Periods and counts that would make something run all the time, or never.
fn check_counts(draft: &mut Draft) {
    let zeros: Vec<(&str, Origin)> = KEYS
        .iter()
        .filter(|key| key.name.starts_with("hooks.") || key.name.starts_with("health."))
        .filter_map(|key| draft.settings.get(key.name).map(|setting| (key.name, setting)))
        .filter(|(_, setting)| {
            setting.value == Value::Number(0) || setting.value == Value::Duration(Duration::ZERO)
        })
        .map(|(name, setting)| (name, setting.origin.clone()))
        .collect();
    for (name, place) in zeros {
        draft.refuse(place, Some(name), "it must be more than zero");
    }
    let is_served = |name| draft.settings.get(name).is_some();
    if !is_served("http.listen") {
        for name in ["http.token_file", "http.allowed_hosts", "http.allowed_origins"] {
            if let Some(setting) = draft.settings.get(name).cloned() {
                let what = "it does nothing without http.listen";
                draft.warn(setting.origin, Some(name), what);
            }
        }
    }
    let is_empty = |setting: &super::draft::Setting| setting.value == Value::List(Vec::new());
    if let Some(setting) = draft.settings.get("health.command").cloned().filter(is_empty) {
        let what =
            "it is empty; write a program and its arguments: [\"/path/to/program\", \"argument\"]";
        draft.refuse(setting.origin, Some("health.command"), what);
    }
}

/// The values that S depends on, the one that is likeliest to be wrong first.
const SILENCE: [&str; 4] =
    ["timing.suspect_after", "timing.heartbeat", "timing.message_max", "timing.processing_max"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_by_the_leading_part_of_its_name() {
        assert_eq!(leading_part("n1.rack2.example.com"), "n1");
        assert_eq!(leading_part("n1"), "n1");
    }

    #[test]
    fn a_peer_is_a_name_with_an_address() {
        assert_eq!(split_peer("n2=[::1]:7400"), Some(("n2", "[::1]:7400")));
        for wrong in ["n2", "n2=", "n2=host", "n2=:7400", "n2=host:0", "x=host:7400", "n0=a:1"] {
            assert_eq!(split_peer(wrong), None, "{wrong}");
        }
    }
}
