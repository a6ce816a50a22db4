//! A job that runs on the leader only.
//!
//! ```text
//! cargo run --example singleton            # three nodes in one process; ends by itself
//! cargo run --example singleton -- n1      # in three terminals: n1, n2, n3; stop one with Ctrl-C
//! ```
//!
//! Two jobs never overlap among nodes that can reach each other. While a network is cut, each side
//! has a leader and runs the job: write the group number beside everything that the job does.

#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

mod local;

use std::error::Error;
use std::time::Duration;

use local::Place;
use tanist::{Group, Lead, NodeStopped};
use tokio::sync::mpsc;

/// How long a job may go on after its node has lost the lead.
const GRACE: Duration = Duration::from_secs(1);

/// The job: started again in every leadership, told when it is over.
async fn job(lead: Lead, rounds: mpsc::UnboundedSender<Lead>) {
    println!("{} runs the job in group {}", lead.view().me(), lead.group_number());
    while lead.sleep(Duration::from_millis(200)).await.is_leading() {
        println!("{} does a round", lead.view().me());
        // An error means that the program is about to end.
        let _ = rounds.send(lead.clone());
    }
    println!("{} has stopped the job", lead.view().me());
}

/// Runs the job on this node whenever it leads, until the node ends.
async fn run(group: Group, rounds: mpsc::UnboundedSender<Lead>) -> Result<(), NodeStopped> {
    // Each leadership's job owns what it uses, so that all of this can be spawned.
    group.while_leader(GRACE, move |lead| job(lead, rounds.clone())).await.map(drop)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (rounds, mut done) = mpsc::unbounded_channel();
    if let Some(node) = std::env::args().nth(1) {
        let group = Place::shared("singleton")?.node("singleton", &node).start().await?;
        tokio::spawn(run(group.clone(), rounds));
        tokio::signal::ctrl_c().await?;
        return Ok(group.shutdown().await?);
    }

    let place = Place::fresh(3)?;
    let mut groups = Vec::new();
    for node in ["n1", "n2", "n3"] {
        groups.push(place.node("singleton", node).start().await?);
    }
    local::gathered(&groups).await?;
    for group in &groups {
        tokio::spawn(run(group.clone(), rounds.clone()));
    }
    for _ in 0..2 {
        for _ in 0..3 {
            done.recv().await;
        }
        let position = groups.iter().position(|group| group.role().is_leader());
        let leader = groups.swap_remove(position.ok_or("no node leads")?);
        println!("{} leaves", leader.me());
        leader.shutdown().await?;
        // What it did while it was leaving is no round of the next one.
        while done.try_recv().is_ok() {}
    }
    let last = done.recv().await.ok_or("the job has ended")?;
    println!("{} is the last one, and still does the job", last.view().me());
    Ok(())
}
