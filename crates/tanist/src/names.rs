//! Nodes, peers and places as people write them.
//!
//! A node has a number, by which the protocols know it, and may have a name, by which people do.
//! `n7` is the short form of number 7. The number of a node with a name is its place in the list of
//! peers, unless the list says another one: `n7:db-east-1=10.0.0.7:7400`.

use std::collections::BTreeMap;

use tanist_core::NodeId;
use tanist_core::membership::{
    DuplicateName, Labels, MembershipError, NodeName, NodeNameError, NodeNames,
};

use crate::error::StartError;

/// Reads the short form of a node, such as `n7`.
///
/// ```
/// use tanist::{NodeId, parse_node};
///
/// assert_eq!(parse_node("n7"), Some(NodeId(7)));
/// assert_eq!(parse_node("seven"), None);
/// ```
#[must_use]
pub fn parse_node(name: &str) -> Option<NodeId> {
    name.parse().ok().filter(|node: &NodeId| (1..=NODE_MAX).contains(&node.0))
}

/// One entry of a list of peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its number.
    pub id: NodeId,
    /// What people call it, if it has a name.
    pub name: Option<NodeName>,
    /// Where it is reached, as `HOST:PORT`; empty if the entry has no address.
    pub address: String,
}

impl Peer {
    /// Reads `db-east-1=10.0.0.7:7400`, `n7:db-east-1=10.0.0.7:7400`, `n7=10.0.0.7:7400`, or the same
    /// without an address. The place in the list counts from 1.
    ///
    /// # Errors
    /// If the text is not an entry of a list of peers.
    pub fn parse(entry: &str, place: usize) -> Result<Self, PeerError> {
        let (who, address) = match entry.split_once('=') {
            Some((who, address)) if is_address(address) => (who, address),
            Some(_) => return Err(PeerError::Address),
            None => (entry, ""),
        };
        let address = address.to_owned();
        let place = u32::try_from(place).ok().filter(|place| *place <= NODE_MAX);
        let (id, name) = match (who.split_once(':'), parse_node(who)) {
            (Some((number, name)), _) => (parse_node(number), Some(name.parse()?)),
            (None, Some(id)) => (Some(id), None),
            (None, None) => (place.map(NodeId), Some(who.parse()?)),
        };
        let id = id.ok_or(PeerError::Number)?;
        Ok(Self { id, name, address })
    }

    /// The same, if it has an address; only by radio do nodes need none.
    ///
    /// # Errors
    /// If it has none.
    pub fn with_address(self) -> Result<Self, PeerError> {
        if self.address.is_empty() { Err(PeerError::Address) } else { Ok(self) }
    }

    /// What people call it: its name, or its short form.
    #[must_use]
    pub fn called(&self) -> String {
        self.name.as_ref().map_or_else(|| self.id.to_string(), ToString::to_string)
    }
}

fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Why a text is not an entry of a list of peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeerError {
    /// The address is not a host and a port.
    #[error("expected NODE=HOST:PORT, such as db-east-1=10.0.0.1:7400")]
    Address,
    /// The number before the name is not one.
    #[error("expected NUMBER:NAME=HOST:PORT, such as n1:db-east-1=10.0.0.1:7400")]
    Number,
    /// The name is not one.
    #[error(transparent)]
    Name(#[from] NodeNameError),
}

/// All nodes of a group with their addresses and names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerList {
    peers: Vec<Peer>,
    names: NodeNames,
}

impl PeerList {
    /// Takes the entries of a list.
    ///
    /// # Errors
    /// If two of them have the same number or the same name.
    pub fn new(peers: Vec<Peer>) -> Result<Self, PeerListError> {
        let mut by_id: BTreeMap<NodeId, &Peer> = BTreeMap::new();
        for peer in &peers {
            let Some(first) = by_id.insert(peer.id, peer) else { continue };
            return Err(match (&first.name, &peer.name) {
                (None, None) => MembershipError::Duplicate(peer.id).into(),
                (Some(_), _) | (_, Some(_)) => {
                    let (first, second) = (first.called(), peer.called());
                    PeerListError::Number { first, second, number: peer.id }
                }
            });
        }
        let named = peers.iter().filter_map(|peer| Some((peer.id, peer.name.clone()?)));
        let names = NodeNames::new(named)?;
        Ok(Self { peers, names })
    }

    /// The entries in the order of the list.
    #[must_use]
    pub fn all(&self) -> &[Peer] {
        &self.peers
    }

    /// The names of those that have one.
    #[must_use]
    pub const fn names(&self) -> &NodeNames {
        &self.names
    }

    /// The listed node of this name or short form.
    ///
    /// ```
    /// use tanist::{NodeId, Peer, PeerList};
    ///
    /// let entries = ["db-east-1=10.0.0.1:7400", "db-west-1=10.0.0.2:7400"];
    /// let peers = (1..).zip(entries).map(|(place, entry)| Peer::parse(entry, place));
    /// let list = PeerList::new(peers.collect::<Result<_, _>>()?)?;
    /// assert_eq!(list.find("db-west-1"), Some(NodeId(2)));
    /// assert_eq!(list.find("n2"), Some(NodeId(2)));
    /// assert_eq!(list.find("n9"), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn find(&self, text: &str) -> Option<NodeId> {
        let is_listed = |id: &NodeId| self.peers.iter().any(|peer| peer.id == *id);
        self.names.find(text).filter(is_listed)
    }

    /// Where a node is reached.
    #[must_use]
    pub fn address(&self, id: NodeId) -> Option<&str> {
        self.peers.iter().find(|peer| peer.id == id).map(|peer| peer.address.as_str())
    }

    /// What all nodes are called, in the order of the list.
    #[must_use]
    pub fn called(&self) -> Vec<String> {
        self.peers.iter().map(Peer::called).collect()
    }
}

/// Why entries do not make a list of peers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeerListError {
    /// A number is listed twice.
    #[error(transparent)]
    Twice(#[from] MembershipError),
    /// Two nodes of different names have one number.
    #[error(
        "{first} and {second} both have the number {number}, because a name without a number has \
         its place in the list; write a number that no other node has, as in n9:{second}=HOST:PORT"
    )]
    Number {
        /// What one of them is called.
        first: String,
        /// What the other one is called.
        second: String,
        /// The number of both.
        number: NodeId,
    },
    /// A name is listed twice.
    #[error(transparent)]
    Name(#[from] DuplicateName),
}

/// The zone and the rack of each node that has one.
pub(crate) fn labels(
    list: &PeerList,
    zones: &[(String, String)],
    racks: &[(String, String)],
) -> Result<BTreeMap<NodeId, Labels>, StartError> {
    let mut labels: BTreeMap<NodeId, Labels> = BTreeMap::new();
    for (name, zone) in zones {
        labels.entry(listed(list, name, "a zone")?).or_default().zone = Some(zone.parse()?);
    }
    for (name, rack) in racks {
        labels.entry(listed(list, name, "a rack")?).or_default().rack = Some(rack.parse()?);
    }
    Ok(labels)
}

/// The number of a node that is given by name or short form; one that is not listed may have the
/// short form only.
pub(crate) fn known(list: &PeerList, name: &str) -> Result<NodeId, StartError> {
    let found = list.find(name).or_else(|| parse_node(name));
    found.ok_or_else(|| StartError::Name(name.to_owned()))
}

/// The number of a node of the list that something was given for; no other node can have it.
pub(crate) fn listed(
    list: &PeerList,
    name: &str,
    given: &'static str,
) -> Result<NodeId, StartError> {
    let unlisted =
        || StartError::Unlisted { node: name.to_owned(), given, peers: list.called().join(" ") };
    list.find(name).ok_or_else(unlisted)
}

/// Numbers fit into the upper part of a message's number.
const NODE_MAX: u32 = u16::MAX as u32;

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[&str]) -> Result<PeerList, PeerListError> {
        let peers = (1..).zip(entries).map(|(place, entry)| Peer::parse(entry, place).unwrap());
        PeerList::new(peers.collect())
    }

    #[test]
    fn the_short_form_of_a_node_has_one_spelling() {
        assert_eq!(parse_node("n17"), Some(NodeId(17)));
        for wrong in ["", "n", "n0", "n01", "17", "n+1", "n 1", "n65536", "N1"] {
            assert_eq!(parse_node(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn peers_are_numbers_or_names_with_addresses() {
        let peer = |text| {
            let peer = Peer::parse(text, 5).unwrap();
            (peer.id.0, peer.name.map(|name| name.to_string()), peer.address)
        };
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(peer("n2=10.0.0.2:7400"), (2, None, "10.0.0.2:7400".to_owned()));
        assert_eq!(peer("n2=[::1]:7400"), (2, None, "[::1]:7400".to_owned()));
        assert_eq!(peer("db-1=db-1.lan:7400"), (5, named("db-1"), "db-1.lan:7400".to_owned()));
        assert_eq!(peer("n9:db-1=[::1]:7400"), (9, named("db-1"), "[::1]:7400".to_owned()));
        assert_eq!(peer("db-1"), (5, named("db-1"), String::new()));
        for wrong in ["n2=", "n2=host", "n2=:7400", "n2=host:0", "n2=host:x"] {
            assert_eq!(Peer::parse(wrong, 1), Err(PeerError::Address), "{wrong}");
        }
        for wrong in ["n0:db=host:1", "x:db=host:1", "1:db=host:1"] {
            assert_eq!(Peer::parse(wrong, 1), Err(PeerError::Number), "{wrong}");
        }
        for wrong in ["Db=host:1", "n2:n3=host:1", "=host:1", "n2:=host:1"] {
            assert!(matches!(Peer::parse(wrong, 1), Err(PeerError::Name(_))), "{wrong}");
        }
        assert_eq!(Peer::parse("db=host:1", 70_000), Err(PeerError::Number));
    }

    #[test]
    fn a_list_has_each_number_and_each_name_once() {
        let mixed = list(&["db-1=a:1", "n7=b:1", "n9:db-2=c:1"]).unwrap();
        assert_eq!(mixed.called(), ["db-1", "n7", "db-2"]);
        assert_eq!((mixed.find("db-2"), mixed.find("n9")), (Some(NodeId(9)), Some(NodeId(9))));
        assert_eq!((mixed.find("db-3"), mixed.find("n2")), (None, None));
        let told = |entries: &[&str]| list(entries).unwrap_err().to_string();
        assert!(told(&["n1=a:1", "n1=b:1"]).contains("n1 is listed twice"));
        assert!(told(&["n2=a:1", "db=b:1"]).contains("n2 and db both have the number n2"));
        assert!(told(&["db=a:1", "db=b:1"]).contains("both called db"));
    }
}
