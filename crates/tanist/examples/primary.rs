//! A service with a primary: the leader takes writes, all others send clients to it.
//!
//! ```text
//! cargo run --example primary         # three nodes and a client in one process; ends by itself
//! cargo run --example primary -- n1   # in three terminals; then: echo hello | nc 127.0.0.1 7501
//! ```
//!
//! Left out: copying what was written to the other nodes. A new primary would catch up from them
//! before it opens its door.

#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

mod local;

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use local::Place;
use tanist::{Group, Lead, NodeId, Role};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What to do with a client at the moment.
enum Door {
    Open(Lead),
    Elsewhere(NodeId),
    Shut,
}

/// Keeps the door as the node's role says.
async fn follow(group: Group, door: watch::Sender<Door>) {
    let mut roles = group.roles();
    while let Some(role) = roles.next().await {
        println!("{} {role}", group.me());
        door.send_replace(match role {
            Role::Leader(lead) => Door::Open(lead),
            Role::Member(view) => Door::Elsewhere(view.coordinator()),
            // Between groups, or what a later release adds.
            Role::Suspended(_) | _ => Door::Shut,
        });
    }
}

/// One line for each request: `ok`, `ask ADDRESS`, or `wait`.
fn answer(request: &str, door: &Door, services: &[String]) -> String {
    match door {
        Door::Open(lead) => match lead.guard() {
            // While the guard is held no other primary begins, among nodes that reach each other.
            Some(_guard) => format!("ok {} took {request:?}\n", lead.view().me()),
            None => "wait\n".to_owned(),
        },
        Door::Elsewhere(leader) => format!("ask {}\n", services[leader.0 as usize - 1]),
        Door::Shut => "wait\n".to_owned(),
    }
}

async fn serve(
    listener: TcpListener,
    door: watch::Receiver<Door>,
    services: Arc<Vec<String>>,
) -> io::Result<()> {
    loop {
        let (mut client, _) = listener.accept().await?;
        let mut request = String::new();
        // A client that hangs up in the middle gets no answer.
        if BufReader::new(&mut client).read_line(&mut request).await.is_ok() {
            let text = answer(request.trim_end(), &door.borrow(), &services);
            let _ = client.write_all(text.as_bytes()).await;
        }
    }
}

/// Starts the service of a node beside the node.
fn open(group: &Group, listener: TcpListener, services: &Arc<Vec<String>>) {
    let (door, seen) = watch::channel(Door::Shut);
    tokio::spawn(follow(group.clone(), door));
    tokio::spawn(serve(listener, seen, Arc::clone(services)));
}

/// A client: asks one node, and goes where it is sent.
async fn write(text: &str, services: &[String]) -> Result<String, Box<dyn Error>> {
    let mut others = services.iter().cycle();
    let mut address = services[0].clone();
    loop {
        let mut service = TcpStream::connect(&address).await?;
        service.write_all(format!("{text}\n").as_bytes()).await?;
        let mut answer = String::new();
        BufReader::new(service).read_line(&mut answer).await?;
        match answer.trim_end().split_once(' ') {
            Some(("ok", told)) => return Ok(told.to_owned()),
            Some(("ask", primary)) if primary != address => primary.clone_into(&mut address),
            // An election is on, or this node has stopped: ask another node.
            Some(_) | None => {
                tokio::time::sleep(Duration::from_millis(20)).await;
                others.next().ok_or("there are no services")?.clone_into(&mut address);
            }
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if let Some(node) = std::env::args().nth(1) {
        let services = (1..=3).map(|node| format!("127.0.0.1:{}", 7500 + node)).collect();
        let group = Place::shared("primary")?.node("primary", &node).start().await?;
        let services: Arc<Vec<String>> = Arc::new(services);
        let listener = TcpListener::bind(&services[group.me().0 as usize - 1]).await?;
        open(&group, listener, &services);
        tokio::signal::ctrl_c().await?;
        return Ok(group.shutdown().await?);
    }

    let place = Place::fresh(3)?;
    let (mut groups, mut listeners, mut services) = (Vec::new(), Vec::new(), Vec::new());
    for node in ["n1", "n2", "n3"] {
        groups.push(place.node("primary", node).start().await?);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        services.push(listener.local_addr()?.to_string());
        listeners.push(listener);
    }
    let services = Arc::new(services);
    for (group, listener) in groups.iter().zip(listeners) {
        open(group, listener, &services);
    }
    local::gathered(&groups).await?;
    println!("client: {}", write("first", &services).await?);
    let position = groups.iter().position(|group| group.role().is_leader());
    let primary = groups.swap_remove(position.ok_or("no node leads")?);
    primary.shutdown().await?;
    println!("client: {}", write("second", &services).await?);
    Ok(())
}
