//! What a process that an agent has started is told of its group: the variables `TANIST_*`.
//!
//! All of them are always set, if only to nothing, so that none is inherited from somewhere else.
//! `TANIST_SOCKET` alone is missing where there is no socket. There is no `TANIST_PRIMARY`: it
//! would say that a majority is led, which no node here can know.

use std::collections::BTreeMap;

use tanist::NodeId;

use crate::agent::change::RoleChange;
use crate::config::Config;

/// The variables for an event at a node that this file describes: its state, as the textbook has
/// it, and the change that brought the event about.
pub(crate) fn environment(
    config: &Config,
    event: &str,
    state: &str,
    change: &RoleChange,
) -> BTreeMap<String, String> {
    let names = config.peers.names();
    let text = |node: Option<NodeId>| node.map(|node| names.of(node).to_string());
    let address = change.coordinator.and_then(|leader| config.peers.address(leader));
    let counter = change.group_number.map(|number| number.counter.to_string());
    let mut variables = BTreeMap::new();
    let mut set = |name: &str, value: String| {
        variables.insert(format!("TANIST_{name}"), value);
    };
    set("EVENT", event.to_owned());
    set("GROUP", config.group.clone());
    set("NODE", names.of(change.node).to_string());
    set("ROLE", change.role.to_string());
    set("STATE", state.to_owned());
    set("GROUP_NUMBER", change.group_number.map(|number| number.to_string()).unwrap_or_default());
    set("GROUP_COUNTER", counter.unwrap_or_default());
    // By radio nodes have no addresses.
    set("LEADER_ADDR", address.unwrap_or_default().to_owned());
    set("LEADER", text(change.coordinator).unwrap_or_default());
    set("OLD_LEADER", text(change.old_leader).unwrap_or_default());
    set("REASON", change.reason.name().to_owned());
    set("MEMBERS", names.list(change.members.iter().copied()));
    set("INDEX", change.index.to_string());
    if let Some(socket) = &config.socket {
        // The process may go to another directory.
        let path = std::path::absolute(socket).unwrap_or_else(|_| socket.clone());
        set("SOCKET", path.display().to_string());
    }
    variables
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use tanist::{GroupNumber, RoleKind};
    use tanist_core::Time;

    use super::*;
    use crate::agent::change::Reason;
    use crate::config::Sources;

    const FILE: &str = r#"group = "billing"
node = "n2"
peers = ["n1=127.0.0.1:7401", "n2=127.0.0.1:7402"]
data_dir = "data"
key_file = "key"
"#;

    fn config() -> Config {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tanist.toml");
        std::fs::write(&path, FILE).unwrap();
        Config::load(&Sources { file: Some(path), ..Sources::default() }).unwrap()
    }

    fn change() -> RoleChange {
        RoleChange {
            index: 7,
            role: RoleKind::Leader,
            group_number: Some(GroupNumber { counter: 42, node: NodeId(2) }),
            coordinator: Some(NodeId(2)),
            members: vec![NodeId(1), NodeId(2)],
            reason: Reason::Failure,
            old_leader: Some(NodeId(1)),
            gap: None,
            ..RoleChange::start(NodeId(2), Time::ZERO, SystemTime::UNIX_EPOCH)
        }
    }

    #[test]
    fn a_leader_is_told_its_epoch_and_everybody_in_it() {
        let config = config();
        let variables = environment(&config, "leader", "normal", &change());
        let value = |name: &str| variables.get(name).map_or("-", String::as_str);
        assert_eq!((value("TANIST_GROUP_NUMBER"), value("TANIST_GROUP_COUNTER")), ("42.n2", "42"));
        assert_eq!(value("TANIST_LEADER_ADDR"), "127.0.0.1:7402");
        assert_eq!((value("TANIST_OLD_LEADER"), value("TANIST_REASON")), ("n1", "failure"));
        assert_eq!((value("TANIST_MEMBERS"), value("TANIST_INDEX")), ("n1 n2", "7"));
        assert_eq!(value("TANIST_SOCKET"), "-");
    }

    #[test]
    fn what_a_node_between_groups_does_not_know_is_set_to_nothing() {
        let config = config();
        let (group_number, coordinator, members) = (None, None, Vec::new());
        let nowhere = RoleChange { group_number, coordinator, members, ..change() };
        let variables = environment(&config, "suspended", "election", &nowhere);
        for name in
            ["TANIST_GROUP_NUMBER", "TANIST_GROUP_COUNTER", "TANIST_LEADER", "TANIST_LEADER_ADDR"]
        {
            assert_eq!(variables.get(name).map(String::as_str), Some(""), "{name}");
        }
    }
}
