//! A day of a virtual address: its leader is killed, cut off, healed and upgraded.

use super::client::Client;
use super::machines::{Machines, NODES, name};

const ALL: &[usize] = &[1, 2, 3];

#[test]
fn the_address_follows_the_leader_and_clients_follow_the_address() {
    let Some(mut machines) = Machines::start(2) else { return };
    let clients = [Client::start(&machines, NODES + 1), Client::start(&machines, NODES + 2)];
    let mut told = Vec::new();

    let first = machines.leader_of(ALL);
    settled(&machines, &clients, first);
    told.push(format!("{} leads", name(first)));

    let second = agent_is_killed(&mut machines, &clients, first);
    let (one, two) = (name(first), name(second));
    told.push(format!("kill -9 of the agent of {one}: {two} leads; then {one} restarts"));

    let third = machine_is_killed(&mut machines, &clients, second);
    let three = name(third);
    told.push(format!("{two} loses its power: {three} leads; then {two} boots"));

    let fourth = network_is_cut(&machines, &clients, third);
    let four = name(fourth);
    told.push(format!("{three} is cut off with the second client; healed, {four} leads"));

    machines.stop_agent(fourth);
    let left: Vec<usize> = ALL.iter().copied().filter(|node| *node != fourth).collect();
    let fifth = machines.leader_of(&left);
    settled(&machines, &clients, fifth);
    machines.launch(fourth);
    assert_eq!(machines.leader_of(ALL), fifth, "a node that comes back does not take over");
    settled(&machines, &clients, fifth);
    told.push(format!("{four} is upgraded: {} leads and keeps the address", name(fifth)));

    println!("{}", told.join("\n"));
    for (client, number) in clients.iter().zip(1..) {
        println!("client {number} sees\n{}", client.timeline());
    }
}

/// One machine has the address, and all clients reach it there.
fn settled(machines: &Machines, clients: &[Client], leader: usize) {
    machines.held_by(&[leader]);
    for client in clients {
        client.reaches(name(leader));
    }
}

/// The machine of a killed agent keeps the address and answers for it. Clients follow the
/// announcement of the new leader; nothing else would tell them.
fn agent_is_killed(machines: &mut Machines, clients: &[Client], leader: usize) -> usize {
    clients.iter().for_each(|client| machines.remember(client.at, leader));
    let before: Vec<usize> = clients.iter().map(Client::count).collect();
    machines.kill_agent(leader);
    let left: Vec<usize> = ALL.iter().copied().filter(|node| *node != leader).collect();
    let next = machines.leader_of(&left);
    let mut both = [leader, next];
    both.sort_unstable();
    machines.held_by(&both);
    for client in clients {
        client.reaches(name(next));
        machines.remembers(client.at, next);
    }
    // The first hook of the next incarnation removes what was left.
    machines.launch(leader);
    assert_eq!(machines.leader_of(ALL), next, "a node that comes back does not take over");
    settled(machines, clients, next);
    for (client, before) in clients.iter().zip(before) {
        client.never_returns_to(name(leader), before);
    }
    next
}

fn machine_is_killed(machines: &mut Machines, clients: &[Client], leader: usize) -> usize {
    machines.kill_machine(leader);
    let left: Vec<usize> = ALL.iter().copied().filter(|node| *node != leader).collect();
    let next = machines.leader_of(&left);
    clients.iter().for_each(|client| client.reaches(name(next)));
    machines.boot(leader);
    assert_eq!(machines.leader_of(ALL), next, "a node that comes back does not take over");
    settled(machines, clients, next);
    next
}

/// Both sides have the address, each for its own clients; after the cut one has it, for all.
fn network_is_cut(machines: &Machines, clients: &[Client], leader: usize) -> usize {
    let [near, far] = clients else { panic!("two clients") };
    machines.switch.cut(&[leader, far.at]);
    let left: Vec<usize> = ALL.iter().copied().filter(|node| *node != leader).collect();
    let other = machines.leader_of(&left);
    assert_eq!(machines.leader_of(&[leader]), leader);
    let mut both = [leader, other];
    both.sort_unstable();
    machines.held_by(&both);
    near.reaches(name(other));
    far.reaches(name(leader));

    machines.switch.heal();
    let last = machines.leader_of(ALL);
    settled(machines, clients, last);
    clients.iter().for_each(|client| machines.remembers(client.at, last));
    last
}
