//! Asks an agent, on every change of its node and every second.
//!
//! In threads of its own, so that an agent that hangs does not hang the view.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use super::Event;
use crate::agent::change::RoleChange;
use crate::agent::report::MembersReport;
use crate::commands::query::Agent;
use crate::control::client::Client;
use crate::control::protocol::Ask;

/// What an agent said at one moment.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) members: MembersReport,
    pub(super) history: Vec<RoleChange<String>>,
}

/// Asks until the receiver is gone.
pub(super) fn start(agent: Agent, events: Sender<Event>) {
    let (changes, changed) = mpsc::channel();
    let follower = agent.clone();
    thread::spawn(move || follow(&follower, &changes));
    thread::spawn(move || poll(&agent, &changed, &events));
}

fn poll(agent: &Agent, changed: &Receiver<()>, events: &Sender<Event>) {
    let mut client: Option<Client> = None;
    loop {
        let seen = ask(agent, &mut client).map(Box::new).map_err(|error| format!("{error:#}"));
        if seen.is_err() {
            client = None;
        }
        if events.send(Event::Seen(seen)).is_err() {
            return;
        }
        match changed.recv_timeout(PERIOD) {
            // What came at once is seen at once.
            Ok(()) => while changed.try_recv().is_ok() {},
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn ask(agent: &Agent, client: &mut Option<Client>) -> anyhow::Result<Snapshot> {
    let client = match client {
        Some(client) => client,
        None => client.insert(agent.connect()?),
    };
    Ok(Snapshot { members: client.ask(&Ask::Members)?, history: client.ask(&Ask::History)? })
}

/// Tells of every change; an agent that is gone is looked for again.
fn follow(agent: &Agent, changes: &Sender<()>) {
    loop {
        let followed = agent
            .connect()
            .and_then(|client| client.follow(&Ask::Watch { after: None, incarnation: None }));
        if let Ok(mut client) = followed {
            while let Ok(Some(_)) = client.line() {
                if changes.send(()).is_err() {
                    return;
                }
            }
        }
        if changes.send(()).is_err() {
            return;
        }
        thread::sleep(PERIOD);
    }
}

const PERIOD: Duration = Duration::from_secs(1);
