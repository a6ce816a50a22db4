//! Names of nodes, peers and places as people write them.

use std::collections::BTreeMap;

use tanist_core::NodeId;
use tanist_core::membership::Labels;

use crate::error::StartError;

/// Reads `n7`.
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

/// Reads `n7=10.0.0.7:7400`.
pub(crate) fn parse_peer(text: &str) -> Option<(NodeId, String)> {
    let (name, address) = text.split_once('=')?;
    let (host, port) = address.rsplit_once(':')?;
    let port: u16 = port.parse().ok()?;
    let is_address = !host.is_empty() && port > 0;
    is_address.then(|| parse_node(name).map(|id| (id, address.to_owned()))).flatten()
}

/// The zone and the rack of each node that has one.
pub(crate) fn labels(
    zones: &[(String, String)],
    racks: &[(String, String)],
) -> Result<BTreeMap<NodeId, Labels>, StartError> {
    let mut labels: BTreeMap<NodeId, Labels> = BTreeMap::new();
    let node = |name: &String| parse_node(name).ok_or_else(|| StartError::Name(name.clone()));
    for (name, zone) in zones {
        labels.entry(node(name)?).or_default().zone = Some(zone.parse()?);
    }
    for (name, rack) in racks {
        labels.entry(node(name)?).or_default().rack = Some(rack.parse()?);
    }
    Ok(labels)
}

/// Names fit into the upper part of a message's number.
const NODE_MAX: u32 = u16::MAX as u32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_one_spelling() {
        assert_eq!(parse_node("n17"), Some(NodeId(17)));
        for wrong in ["", "n", "n0", "n01", "17", "n+1", "n 1", "n65536", "N1"] {
            assert_eq!(parse_node(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn peers_are_names_with_addresses() {
        let peer = |text| parse_peer(text).map(|(id, address)| (id.0, address));
        assert_eq!(peer("n2=10.0.0.2:7400"), Some((2, "10.0.0.2:7400".to_owned())));
        assert_eq!(peer("n2=[::1]:7400"), Some((2, "[::1]:7400".to_owned())));
        for wrong in ["n2", "n2=", "n2=host", "n2=:7400", "n2=host:0", "x=host:7400"] {
            assert_eq!(peer(wrong), None, "{wrong}");
        }
    }
}
