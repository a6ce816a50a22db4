//! Where nodes are, `zones` and `racks`, and the groups that `super-peer` makes of that.

use std::collections::BTreeMap;

use tanist::{Algorithm, NodeId};
use tanist_core::membership::{Label, Labels};
use tanist_core::options::Options;
use tanist_core::timing::Timing;
use tanist_core::{GroupConfig, GroupSettings, Member, Membership, Priority};

use super::check::peer_list;
use super::draft::Draft;
use super::timing::TimingTable;
use super::value::Value;

/// Notes names that are too long, labels that are not used, and options that make no groups.
pub(super) fn check(draft: &mut Draft) {
    let algorithm = draft.settings.value("algorithm").and_then(Value::as_algorithm);
    let mut labels: BTreeMap<NodeId, Labels> = BTreeMap::new();
    let list = peer_list(&draft.settings);
    for table in ["zones", "racks"] {
        let entries: Vec<_> = draft
            .settings
            .entries(table)
            .map(|(name, setting)| (name.to_owned(), setting.clone()))
            .collect();
        for (name, setting) in &entries {
            match (list.find(name), setting.value.to_string().parse::<Label>()) {
                (Some(node), Ok(label)) => {
                    let of = labels.entry(node).or_default();
                    *(if table == "zones" { &mut of.zone } else { &mut of.rack }) = Some(label);
                }
                // A stranger was told of already.
                (None, _) => {}
                (Some(_), Err(error)) => {
                    let key = format!("{table}.{name}");
                    draft.refuse(setting.origin.clone(), Some(&key), error.to_string());
                }
            }
        }
        if let Some((_, first)) = entries.first()
            && algorithm.is_some_and(|algorithm| algorithm != Algorithm::SuperPeer)
        {
            let what = "only algorithm = \"super-peer\" looks at it";
            draft.warn(first.origin.clone(), Some(table), what);
        }
    }
    if algorithm == Some(Algorithm::SuperPeer) && !draft.is_refused() {
        check_groups(draft, labels);
    }
}

fn check_groups(draft: &mut Draft, labels: BTreeMap<NodeId, Labels>) {
    let mut options = Options::default();
    for (name, setting) in draft.settings.entries("options") {
        // What is no option was refused before this is asked.
        let _ = options.set(Algorithm::SuperPeer, name, &setting.value.to_string());
    }
    let list = peer_list(&draft.settings);
    let ids = list.all().iter().map(|peer| peer.id);
    let members = Membership::new(ids.map(|id| Member { id, priority: Priority(id.0) }));
    let timing = Timing::new(TimingTable::of(&draft.settings).config());
    let (Ok(members), Ok(timing)) = (members, timing) else { return };
    let usual = GroupSettings::new(Algorithm::SuperPeer, timing);
    // What it says of taking over was refused before, too.
    let Ok(config) = GroupConfig::new(GroupSettings { options, ..usual }) else { return };
    if let Err(error) = members.with_labels(labels).arranged(&config) {
        let given = draft.settings.entries("options").map(|(_, setting)| setting.origin.clone());
        let place = given.last().unwrap_or_else(|| draft.settings.origin("algorithm"));
        draft.refuse(place, Some("options"), error.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Sources};

    fn told(flags: &[(&str, &str)]) -> String {
        let base = [
            ("group", "fleet"),
            ("node", "n1"),
            ("peers", "n1=10.0.0.1:7400,n2=10.0.0.2:7400"),
            ("data_dir", "/nowhere"),
            ("key_file", "/nowhere/key"),
        ];
        let flags = base.iter().chain(flags);
        let flags =
            flags.map(|(key, value)| ("--set".to_owned(), (*key).to_owned(), (*value).to_owned()));
        let found = Config::examine(&Sources { flags: flags.collect(), ..Sources::default() });
        let found = found.map_or_else(|found| found, |config| config.warnings);
        found.iter().map(|finding| format!("{finding}\n")).collect()
    }

    const SUPER: (&str, &str) = ("algorithm", "super-peer");

    #[test]
    fn places_are_short_names_of_nodes() {
        assert_eq!(told(&[SUPER, ("zones", "n1=north,n2=south"), ("racks.n1", "r1")]), "");
        assert!(told(&[SUPER, ("zones.n9", "north")]).contains("n9 is not one of the peers"));
        assert!(told(&[SUPER, ("racks.n1", "a-name-of-more-than-16")]).contains("1 to 16 bytes"));
        assert!(told(&[("zones.n1", "north")]).contains("super-peer"));
    }

    #[test]
    fn options_that_make_no_groups_are_refused_before_anything_starts() {
        let both = [SUPER, ("options.k", "2"), ("options.ratio", "1/4")];
        assert!(told(&both).contains("give one of the two"), "{}", told(&both));
        let apart = [SUPER, ("options.by", "rack"), ("options.disperse", "on")];
        assert!(told(&apart).contains("one rack"), "{}", told(&apart));
    }
}
