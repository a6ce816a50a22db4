//! The `[identity]` table: this node's own key pair, and the public keys of all nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use tanist::NodeId;
use tanist::key::PublicKey;

use super::check::peer_list;
use super::draft::{Draft, Setting, Settings};
use super::radio;
use super::value::Value;

/// This node's own key pair, and the public keys of all nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdentityTable {
    /// The file with this node's secret key.
    pub(crate) key_file: PathBuf,
    /// The public keys that are listed; this node's own may be among them.
    pub(crate) peer_keys: BTreeMap<NodeId, PublicKey>,
    /// Whether a peer gets a link only if it proves the key that is listed for it.
    pub(crate) is_required: bool,
}

/// What the settings say, once they are checked.
pub(super) fn table(settings: &Settings) -> Option<IdentityTable> {
    let key_file = PathBuf::from(settings.value(KEY_FILE)?.to_string());
    let is_required = settings.value(REQUIRE).and_then(Value::as_bool)?;
    let list = peer_list(settings);
    let listed = settings.entries(PEER_KEYS).filter_map(|(name, setting)| {
        Some((list.find(name)?, PublicKey::parse(&setting.value.to_string()).ok()?))
    });
    Some(IdentityTable { key_file, peer_keys: listed.collect(), is_required })
}

/// Notes lines that are not public keys, keys that two nodes share, and peers without a line.
pub(super) fn check(draft: &mut Draft) {
    let listed: Vec<(String, Setting)> = draft
        .settings
        .entries(PEER_KEYS)
        .map(|(name, setting)| (name.to_owned(), setting.clone()))
        .collect();
    let own = draft.settings.get(KEY_FILE).cloned();
    if radio::is_on(&draft.settings) {
        return refuse_radio(draft, own.as_ref(), &listed);
    }
    check_keys(draft, &listed);
    match (own, listed.first()) {
        (Some(own), _) => warn_of_unlisted(draft, &own, &listed),
        (None, Some((name, first))) => {
            let what = "it needs identity.key_file, this node's own key; make one with \
                        `tanist keygen --node NODE FILE`";
            draft.refuse(first.origin.clone(), Some(&format!("{PEER_KEYS}.{name}")), what);
        }
        (None, None) => {}
    }
}

/// Packets of a radio carry no proof of who sent them, so an identity would promise too much.
fn refuse_radio(draft: &mut Draft, own: Option<&Setting>, listed: &[(String, Setting)]) {
    let entries = listed.iter().map(|(name, setting)| (format!("{PEER_KEYS}.{name}"), setting));
    let given = own.map(|own| (KEY_FILE.to_owned(), own)).into_iter().chain(entries).next();
    if let Some((key, setting)) = given {
        let what = "with [radio] there are no identities: packets are sealed with the group's key \
                    only; leave out [identity], or [radio]";
        draft.refuse(setting.origin.clone(), Some(&key), what);
    }
}

fn check_keys(draft: &mut Draft, listed: &[(String, Setting)]) {
    let mut seen: BTreeMap<PublicKey, &str> = BTreeMap::new();
    for (name, setting) in listed {
        let key = format!("{PEER_KEYS}.{name}");
        match PublicKey::parse(&setting.value.to_string()) {
            Ok(public) => {
                if let Some(other) = seen.insert(public, name) {
                    let what = format!(
                        "{name} and {other} have the same key, so either could speak as the \
                         other; make a key for each: tanist keygen --node {name} FILE"
                    );
                    draft.refuse(setting.origin.clone(), Some(&key), what);
                }
            }
            Err(error) => draft.refuse(setting.origin.clone(), Some(&key), error.to_string()),
        }
    }
}

fn warn_of_unlisted(draft: &mut Draft, own: &Setting, listed: &[(String, Setting)]) {
    let list = peer_list(&draft.settings);
    let me = draft.settings.value("node").and_then(|name| list.find(&name.to_string()));
    let known: BTreeSet<NodeId> = listed.iter().filter_map(|(name, _)| list.find(name)).collect();
    let is_required = draft.settings.value(REQUIRE).and_then(Value::as_bool) == Some(true);
    for peer in list.all() {
        if Some(peer.id) == me || known.contains(&peer.id) {
            continue;
        }
        let name = list.names().of(peer.id);
        let effect = if is_required {
            "it gets no link with this node (require = true)"
        } else {
            "only the group's key vouches for it"
        };
        let what = format!("{name} is not listed, so {effect}; add the line that keygen printed");
        draft.warn(own.origin.clone(), Some(PEER_KEYS), what);
    }
}

const KEY_FILE: &str = "identity.key_file";
const PEER_KEYS: &str = "identity.peer_keys";
const REQUIRE: &str = "identity.require";

#[cfg(test)]
mod tests {
    use super::super::{Config, Sources};
    use super::*;

    fn examine(flags: &[(&str, &str)]) -> (Option<IdentityTable>, String) {
        let base = [
            ("group", "billing"),
            ("node", "n1"),
            ("peers", "n1=10.0.0.1:7400,n2=10.0.0.2:7400,n3=10.0.0.3:7400"),
            ("data_dir", "/nowhere"),
            ("key_file", "/nowhere/key"),
        ];
        let flags = base.iter().chain(flags);
        let flags =
            flags.map(|(key, value)| ("--set".to_owned(), (*key).to_owned(), (*value).to_owned()));
        let examined = Config::examine(&Sources { flags: flags.collect(), ..Sources::default() });
        let (table, findings) = match examined {
            Ok(config) => (config.identity, config.warnings),
            Err(findings) => (None, findings),
        };
        (table, findings.iter().map(|finding| format!("{finding}\n")).collect())
    }

    fn key(digit: &str) -> String {
        format!("tanist-node-1:{}", digit.repeat(64))
    }

    const FILE: (&str, &str) = ("identity.key_file", "/nowhere/n1.key");

    #[test]
    fn a_table_with_all_peers_is_taken_without_a_word() {
        let all = format!("n1={},n2={},n3={}", key("1"), key("2"), key("3"));
        let (table, told) = examine(&[FILE, ("identity.peer_keys", &all)]);
        let table = table.unwrap();
        assert_eq!((table.peer_keys.len(), table.is_required, told.as_str()), (3, true, ""));
        let (lenient, _) =
            examine(&[FILE, ("identity.peer_keys", &all), ("identity.require", "false")]);
        assert!(!lenient.unwrap().is_required);
        assert_eq!(examine(&[]), (None, String::new()));
    }

    #[test]
    fn a_peer_without_a_line_is_named() {
        let (table, told) = examine(&[FILE, ("identity.peer_keys.n2", &key("2"))]);
        assert!(table.is_some());
        assert!(told.contains("n3 is not listed") && !told.contains("n2 is not"), "{told}");
        assert!(!told.contains("n1 is not listed"), "{told}");
    }

    #[test]
    fn what_cannot_work_is_refused_with_its_reason() {
        let told = |flags: &[(&str, &str)]| {
            let (table, told) = examine(flags);
            assert_eq!(table, None, "{told}");
            told
        };
        let alone = told(&[("identity.peer_keys.n2", &key("2"))]);
        assert!(alone.contains("tanist keygen --node"), "{alone}");
        let twice = format!("n2={},n3={}", key("2"), key("2"));
        let twice = told(&[FILE, ("identity.peer_keys", &twice)]);
        assert!(twice.contains("n3 and n2 have the same key"), "{twice}");
        let stranger = told(&[FILE, ("identity.peer_keys.n9", &key("9"))]);
        assert!(stranger.contains("n9 is not one of the peers"), "{stranger}");
        let secret = format!("tanist-node-secret-1:{}", "a".repeat(64));
        let secret = told(&[FILE, ("identity.peer_keys.n2", &secret)]);
        assert!(secret.contains("secret key") && !secret.contains("aaaa"), "{secret}");
        let maybe = told(&[FILE, ("identity.require", "maybe")]);
        assert!(maybe.contains("true or false"), "{maybe}");
        let radio = [("radio.interfaces", "wlan0"), ("algorithm", "adhoc-diffusing"), FILE];
        assert!(told(&radio).contains("sealed with the group's key only"));
    }
}
