//! The `[radio]` table: a node that reaches its neighbours by broadcast instead of by links.

use tanist::radio::{Cast, Interfaces, Reach};
use tanist_core::election::descriptor::Network;

use super::check::peer_list;
use super::draft::{Draft, Settings};
use super::key::Key;
use super::value::Value;

/// Whether these settings have a radio.
pub(super) fn is_on(settings: &Settings) -> bool {
    settings.get(INTERFACES).is_some()
}

/// What the settings say, once they are checked.
pub(super) fn reach(settings: &Settings) -> Option<Reach> {
    let names = settings.value(INTERFACES).map(Value::as_list)?;
    let interfaces = match names {
        [only] if only == ALL => Interfaces::All,
        names => Interfaces::Named(names.to_vec()),
    };
    let port = settings.value(PORT).and_then(Value::as_number)?;
    let cast = settings.value(GROUP)?.to_string();
    Some(Reach::new(interfaces, u16::try_from(port).ok()?).cast(cast.parse().ok()?))
}

/// Notes what is wrong with the table, and what it makes useless.
pub(super) fn check(draft: &mut Draft) {
    if !is_on(&draft.settings) {
        for name in [PORT, GROUP] {
            // A file that `config show` wrote has the defaults, too.
            let usual = Key::find(name).and_then(|key| key.default);
            let given = draft.settings.value(name).map(Value::to_string);
            if given.as_deref() != usual {
                let place = draft.settings.origin(name);
                draft.warn(place, Some(name), "it does nothing without radio.interfaces");
            }
        }
        return;
    }
    check_interfaces(draft);
    check_numbers(draft);
    check_algorithm(draft);
    if peer_list(&draft.settings).all().iter().any(|peer| !peer.address.is_empty()) {
        let what = "by radio nodes have no addresses, so those here are not used; names \
                    are enough: [\"n1\", \"n2\"]";
        draft.warn(draft.settings.origin("peers"), Some("peers"), what);
    }
    if let Some(setting) = draft.settings.get("listen").cloned() {
        let what = "by radio it does nothing; the port is radio.port";
        draft.warn(setting.origin, Some("listen"), what);
    }
}

fn check_interfaces(draft: &mut Draft) {
    let Some(setting) = draft.settings.get(INTERFACES).cloned() else { return };
    let names = setting.value.as_list();
    if names.is_empty() {
        let what = "it names none; write [\"wlan0\"], or [\"all\"]";
        draft.refuse(setting.origin.clone(), Some(INTERFACES), what);
    }
    for (at, name) in names.iter().enumerate() {
        let place = setting.items.get(at).unwrap_or(&setting.origin).clone();
        let is_name = !name.is_empty()
            && name.len() <= NAME_MAX
            && !name.contains(|letter: char| letter == '/' || letter.is_whitespace());
        if !is_name {
            let what = format!("`{name}` is not the name of an interface; `ip link` lists them");
            draft.refuse(place, Some(INTERFACES), what);
        } else if name == ALL && names.len() > 1 {
            let what = "`all` stands for every interface, so leave out the others, or leave out it";
            draft.refuse(place, Some(INTERFACES), what);
        } else if names[..at].contains(name) {
            let what = format!("{name} is listed twice");
            draft.refuse(place, Some(INTERFACES), what);
        }
    }
}

fn check_numbers(draft: &mut Draft) {
    let port = draft.settings.value(PORT).and_then(Value::as_number);
    if port.is_some_and(|port| port == 0 || port > u32::from(u16::MAX)) {
        let place = draft.settings.origin(PORT);
        draft.refuse(place, Some(PORT), "a port is a number from 1 to 65535");
    }
    let group = draft.settings.value(GROUP).map(Value::to_string).unwrap_or_default();
    if let Err(error) = group.parse::<Cast>() {
        draft.refuse(draft.settings.origin(GROUP), Some(GROUP), error.to_string());
    }
}

fn check_algorithm(draft: &mut Draft) {
    let algorithm = draft.settings.value("algorithm").and_then(Value::as_algorithm);
    if let Some(algorithm) = algorithm.filter(|known| known.descriptor().network != Network::Radio)
    {
        let what = format!(
            "{} sends to every node, and a radio reaches neighbours only; choose algorithm = \
             \"adhoc-diffusing\" or \"adhoc-expanding-ring\", or leave out [radio]",
            algorithm.name()
        );
        draft.refuse(draft.settings.origin(INTERFACES), Some(INTERFACES), what);
    }
}

const INTERFACES: &str = "radio.interfaces";
const PORT: &str = "radio.port";
const GROUP: &str = "radio.group";
const ALL: &str = "all";
/// What the kernel allows.
const NAME_MAX: usize = 15;

#[cfg(test)]
mod tests {
    use super::super::{Config, Finding, Sources};
    use super::*;

    fn examine(flags: &[(&str, &str)]) -> Result<Config, Vec<Finding>> {
        let base = [
            ("group", "rovers"),
            ("node", "n1"),
            ("peers", "n1,n2"),
            ("algorithm", "adhoc-diffusing"),
            ("data_dir", "/nowhere"),
            ("key_file", "/nowhere/key"),
        ];
        let flags = base.iter().chain(flags);
        let flags =
            flags.map(|(key, value)| ("--set".to_owned(), (*key).to_owned(), (*value).to_owned()));
        Config::examine(&Sources { flags: flags.collect(), ..Sources::default() })
    }

    fn refusal(flags: &[(&str, &str)]) -> String {
        let findings = examine(flags).map(|_| ()).unwrap_err();
        findings.iter().map(|finding| format!("{finding}\n")).collect()
    }

    #[test]
    fn peers_need_no_addresses() {
        let config = examine(&[("radio.interfaces", "wlan0,eth1")]).unwrap();
        let reach = config.radio.unwrap();
        assert_eq!(reach.interfaces, Interfaces::Named(vec!["wlan0".into(), "eth1".into()]));
        assert_eq!((reach.port, reach.cast), (7400, Cast::Broadcast));
        assert!(config.warnings.is_empty(), "{:?}", config.warnings);
        let all = examine(&[("radio.interfaces", "all"), ("radio.group", "ff02::7400")]).unwrap();
        assert_eq!(all.radio.unwrap().interfaces, Interfaces::All);
        assert!(refusal(&[]).contains("is not a peer"));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_reason() {
        let with = |key, value| refusal(&[("radio.interfaces", "wlan0"), (key, value)]);
        assert!(with("radio.port", "0").contains("from 1 to 65535"));
        assert!(with("radio.port", "70000").contains("from 1 to 65535"));
        assert!(with("radio.group", "10.0.0.1").contains("multicast"));
        assert!(with("algorithm", "bully").contains("adhoc-diffusing"));
        assert!(refusal(&[("radio.interfaces", "a b")]).contains("not the name of an interface"));
        assert!(refusal(&[("radio.interfaces", "all,wlan0")]).contains("leave out"));
        assert!(refusal(&[("radio.interfaces", "wlan0,wlan0")]).contains("twice"));
    }

    #[test]
    fn what_does_nothing_is_a_warning() {
        let told = |flags: &[(&str, &str)]| {
            let warnings = examine(flags).unwrap().warnings;
            warnings.iter().map(|finding| format!("{finding}\n")).collect::<String>()
        };
        let addresses = ("peers", "n1=10.0.0.1:7400,n2=10.0.0.2:7400");
        let wired = ("algorithm", "invitation");
        let port = [addresses, wired, ("radio.port", "7000")];
        assert!(told(&port).contains("without radio.interfaces"));
        assert!(told(&[addresses, ("radio.interfaces", "wlan0")]).contains("are not used"));
        let listen = [("radio.interfaces", "wlan0"), ("listen", "0.0.0.0:7400")];
        assert!(told(&listen).contains("radio.port"));
    }
}
