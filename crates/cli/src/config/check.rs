//! What must hold between the values of a configuration. Every mistake is noted, not only the
//! first, each at the place of the value that is likeliest to be the slip.
//!
//! Left out: whether files and directories are there. That is surroundings.rs, and only asked for.

use std::collections::BTreeMap;
use std::time::Duration;

use tanist::{Algorithm, NodeId, Peer, PeerError, PeerList, PeerListError, StartError};
use tanist_core::duration;
use tanist_core::options::Options;
use tanist_core::timing::{Timing, TimingError};

use super::Config;
use super::draft::{Draft, Settings};
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

/// Notes every entry that is not a peer, and every node or address that is listed twice.
fn check_peers(draft: &mut Draft) {
    let Some(setting) = draft.settings.get("peers").cloned() else { return };
    let entries = setting.value.as_list();
    if entries.is_empty() {
        let what = "it is empty; write all nodes, this one included";
        return draft.refuse(setting.origin, Some("peers"), what);
    }
    let is_radio = radio::is_on(&draft.settings);
    let mut seen: Vec<Peer> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let place = setting.items.get(at).unwrap_or(&setting.origin).clone();
        let peer = match read_peer(entry, at + 1, is_radio) {
            Ok(peer) => peer,
            Err(error) => {
                let what = format!("`{entry}` is not a peer; {error}");
                draft.refuse(place, Some("peers"), what);
                continue;
            }
        };
        let same = seen.iter().find(|other| other.address == peer.address && !is_radio);
        if let Some(other) = same {
            let (name, other, address) = (peer.called(), other.called(), &peer.address);
            let what = format!("{name} has the address of {other}, {address}; give it its own");
            draft.refuse(place.clone(), Some("peers"), what);
        }
        match clash(&seen, &peer) {
            None => seen.push(peer),
            Some(error) => draft.refuse(place, Some("peers"), error.to_string()),
        }
    }
}

/// Why a node cannot be added to these.
fn clash(sound: &[Peer], peer: &Peer) -> Option<PeerListError> {
    let is_same =
        |other: &&Peer| other.id == peer.id || (peer.name.is_some() && other.name == peer.name);
    let other = sound.iter().find(is_same)?;
    PeerList::new(vec![other.clone(), peer.clone()]).err()
}

/// One entry of the list, at this place from 1 on; by radio a node has no address.
fn read_peer(entry: &str, place: usize, is_radio: bool) -> Result<Peer, PeerError> {
    let peer = Peer::parse(entry, place)?;
    if is_radio { Ok(peer) } else { peer.with_address() }
}

/// The list of peers, as far as it is sound.
pub(super) fn peer_list(settings: &Settings) -> PeerList {
    let entries = settings.value("peers").map_or(&[][..], Value::as_list);
    let is_radio = radio::is_on(settings);
    let mut sound: Vec<Peer> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let Ok(peer) = read_peer(entry, at + 1, is_radio) else { continue };
        if clash(&sound, &peer).is_none() {
            sound.push(peer);
        }
    }
    PeerList::new(sound).unwrap_or_default()
}

fn check_node(draft: &mut Draft, file: &Origin) {
    let list = peer_list(&draft.settings);
    let Some(setting) = draft.settings.get("node").cloned() else {
        if is_noted(draft, "node") {
            return;
        }
        let host = rustix::system::uname().nodename().to_string_lossy().to_lowercase();
        let short = leading_part(&host);
        if list.find(short).is_some() {
            return draft.settings.put("node", Value::Text(short.to_owned()), Origin::Hostname);
        }
        let example = list.called().first().cloned().unwrap_or_else(|| "n1".to_owned());
        let what = format!(
            "it is missing, and the host's name `{short}` is not a peer's; write node = \
             \"{example}\", set TANIST_NODE or give --node"
        );
        return draft.refuse(file.clone(), Some("node"), what);
    };
    let name = setting.value.to_string();
    if !list.all().is_empty() && list.find(&name).is_none() {
        let known = list.called().join(", ");
        let what = format!("`{name}` is not one of the peers {known}; add it there");
        draft.refuse(setting.origin, Some("node"), what);
    }
}

/// `n1` of `n1.example.com`.
fn leading_part(host: &str) -> &str {
    host.split('.').next().unwrap_or_default()
}

/// Entries of a table by nodes that are none, and second entries for the same node.
fn check_strangers(draft: &mut Draft, table: &str) {
    let list = peer_list(&draft.settings);
    if list.all().is_empty() {
        return;
    }
    let mut seen: BTreeMap<NodeId, String> = BTreeMap::new();
    let mut wrong: Vec<(String, Origin, String)> = Vec::new();
    for (name, setting) in draft.settings.entries(table) {
        let what = match list.find(name) {
            None => format!("{name} is not one of the peers {}", list.called().join(", ")),
            Some(node) => match seen.insert(node, name.to_owned()) {
                None => continue,
                Some(other) => format!("{name} and {other} are the same node; write one of them"),
            },
        };
        wrong.push((name.to_owned(), setting.origin.clone(), what));
    }
    for (name, place, what) in wrong {
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
}
