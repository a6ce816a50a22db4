//! Recordings of handshakes: the first bytes of nodes that dial a node. Proxies in front of the
//! nodes make them before the soak, and are gone during it.

use std::net::SocketAddr;
use std::process::Stdio;

use super::nodes::Nodes;
use crate::attacks::proxy::Proxy;
use crate::support::agent::Process;
use crate::support::wait::until;

/// Recordings for each node. A node that was never dialled gets those of the others.
pub(crate) fn record(nodes: &Nodes) -> Vec<Vec<Vec<u8>>> {
    let behind: Vec<SocketAddr> = (1..=nodes.all.len()).map(|at| nodes.fleet.spare(at)).collect();
    let fronts = nodes.all.iter().zip(&behind);
    let proxies: Vec<Proxy> =
        fronts.map(|(node, behind)| Proxy::start(node.peer, *behind)).collect();
    let agents = nodes.all.iter().zip(&behind).map(|(node, behind)| {
        let (file, listen) = (format!("{}.toml", node.name), behind.to_string());
        let mut agent = nodes.fleet.tanist(&["agent", "-c", &file, "--listen", &listen]);
        Process::start(agent.stdout(Stdio::null()).stderr(Stdio::null()))
    });
    let agents: Vec<Process> = agents.collect();
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
