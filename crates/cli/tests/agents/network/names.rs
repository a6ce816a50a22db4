//! Peers that are known by name, and a machine that gets another address.

use super::machines::{Machines, NODES};
use crate::support::lan::Lan;

#[test]
fn a_peer_that_returns_at_another_address_is_found_by_its_name() {
    let Some(mut machines) = Machines::with_names() else { return };
    let led = machines.start();
    let moved = led.leader % NODES + 1;
    machines.agents[moved - 1].kill();
    let (new, nowhere) = ("10.77.0.77", "10.77.0.99");
    machines.lan.move_host(moved, new);
    for at in 1..=NODES {
        let address = |of: usize| match (at == moved, of == moved) {
            (_, true) => new.to_owned(),
            (false, false) => Lan::host(of),
            // It cannot dial, so the others have to: they look its name up again.
            (true, false) => nowhere.to_owned(),
        };
        machines.set_hosts(at, &(1..=NODES).map(address).collect::<Vec<_>>());
    }
    machines.restart(moved);
    let led = machines.agreed();
    // Datagrams go to where the link goes, in both directions.
    let arrived = || machines.agent(moved).count("datagrams_in");
    let before = arrived();
    machines.beats(led.leader, 40);
    assert!(arrived() > before, "{}", machines.logs());
    for at in 1..=NODES {
        assert_eq!(machines.agent(at).count("heartbeats_carried_out"), 0, "{}", machines.logs());
    }
}
