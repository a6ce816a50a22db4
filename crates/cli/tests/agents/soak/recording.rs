//! Recordings of handshakes: what the other nodes say first when they dial a node. They are made
//! before the soak, by proxies in front of the nodes, so that nothing stands between them later.

use std::process::Stdio;

use super::nodes::Nodes;
use crate::home::{Started, free_port, until};
use crate::proxy::Proxy;

/// Recordings for each node. One that was never dialled gets those of the others.
pub(crate) fn record(nodes: &Nodes) -> Vec<Vec<Vec<u8>>> {
    let behind: Vec<u16> = nodes.all.iter().map(|_| free_port()).collect();
    let fronts = nodes.all.iter().zip(&behind);
    let proxies: Vec<Proxy> =
        fronts.map(|(node, behind)| Proxy::start(node.peer, *behind)).collect();
    let agents = nodes.all.iter().zip(&behind).map(|(node, behind)| {
        let (file, listen) = (format!("{}.toml", node.name), format!("127.0.0.1:{behind}"));
        let mut agent = nodes.home.tanist(&["agent", "-c", &file, "--listen", &listen]);
        Started::new(agent.stdout(Stdio::null()).stderr(Stdio::null()))
    });
    let agents: Vec<Started> = agents.collect();
    let recorded = || proxies.iter().map(Proxy::openings).collect::<Vec<_>>();
    until("handshakes", || {
        // Links that break are made again, by one side or the other.
        proxies.iter().for_each(Proxy::cut);
        (recorded().concat().len() >= RECORDED).then_some(())
    });
    drop(agents);
    let recorded = recorded();
    let or_all = |own: &Vec<_>| if own.is_empty() { recorded.concat() } else { own.clone() };
    recorded.iter().map(or_all).collect()
}

/// Several of each node.
const RECORDED: usize = 12;
