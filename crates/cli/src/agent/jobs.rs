//! The agent's side of a job: tell a client to start it when the node is active, tell it to stop,
//! and hold the next election up until no process of the job is left.
//!
//! The client's connection is held by its keeper as well, so it closes only when the job is gone;
//! then, and when the client says so, the guard is dropped. A client that hangs is given its grace,
//! then its connection is closed, which its keeper takes as an order to kill. Assumes that a killed
//! job is gone within [`KILL_MAX`]; after that the node answers without it.

use std::future::pending;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::net::Shutdown;
use tanist::{Lead, RoleKind};
use tokio::net::UnixStream;
use tokio::sync::{Mutex, mpsc};

use super::Agent;
use super::environment::environment;
use crate::agent::change::RoleChange;
use crate::control::protocol::{JobNews, JobOrder};
use crate::job::channel::Channel;

/// Has a client run its job whenever the node is active, until one of them is gone.
pub(crate) async fn attend(stream: UnixStream, grace: Duration, agent: &Agent) -> io::Result<()> {
    let stream = stream.into_std()?;
    let mut ears = Channel::new(UnixStream::from_std(stream.try_clone()?)?);
    let (heard, news) = mpsc::channel(1);
    let client = Arc::new(Client {
        mouth: Channel::new(UnixStream::from_std(stream)?),
        news: Mutex::new(news),
        grace,
        is_given_up: AtomicBool::new(false),
        agent: agent.clone(),
    });
    let listen = async {
        while let Some(news) = ears.next::<JobNews>().await? {
            // An error means that the conversation is over.
            let _ = heard.send(news).await;
        }
        Ok(())
    };
    let limit = grace + STOP_MARGIN + KILL_MAX;
    let activity = agent.activity().clone();
    let told = Arc::clone(&client);
    let work = async move {
        activity.while_active(limit, move |lead| lead_once(lead, Arc::clone(&client))).await
    };
    let farewell = async {
        agent.leaves().await;
        // `listen` notices a client that is gone, and the end of one that obeys.
        let _ = told.mouth.put(&JobOrder::Leave, &[]).await;
        pending::<()>().await;
    };
    tokio::select! {
        gone = listen => gone,
        // The job has ended, or the node has stopped.
        _ = work => Ok(()),
        () = farewell => Ok(()),
    }
}

struct Client {
    mouth: Channel,
    news: Mutex<mpsc::Receiver<JobNews>>,
    grace: Duration,
    is_given_up: AtomicBool,
    agent: Agent,
}

/// One leadership. When it returns, no process of the job is left.
async fn lead_once(lead: Lead, client: Arc<Client>) {
    if client.is_given_up.load(Ordering::Relaxed) {
        return;
    }
    let mut news = client.news.lock().await;
    if client.start(&lead).await.is_err() {
        // The client is gone, and `attend` notices it.
        return;
    }
    tokio::select! {
        _ = news.recv() => return,
        () = lead.lost() => {}
    }
    let reason = format!("the leadership of group {} is over", lead.group_number());
    if client.mouth.put(&JobOrder::Stop { reason }, &[]).await.is_err() {
        return;
    }
    if tokio::time::timeout(client.grace + STOP_MARGIN, news.recv()).await.is_err() {
        tracing::warn!("a job did not stop within its grace and is killed");
        client.is_given_up.store(true, Ordering::Relaxed);
        // Its keeper sees this even if `tanist run` hangs. `attend` notices when it has obeyed.
        let _ = rustix::net::shutdown(client.mouth.socket(), Shutdown::Write);
        tokio::time::sleep(KILL_MAX).await;
    }
}

impl Client {
    async fn start(&self, lead: &Lead) -> io::Result<()> {
        let change = self.change(lead).await.ok_or(io::ErrorKind::NotConnected)?;
        let port = self.agent.group().hold_port().await.unwrap_or_else(|error| {
            tracing::warn!(
                "the port cannot be held for a job ({error}): if this node is killed, another may \
                 start the job a moment too early. Raise the number of open files: ulimit -n"
            );
            None
        });
        let environment = environment(&self.agent.config(), "leader", "normal", &change);
        let descriptors: Vec<_> = port.iter().map(AsFd::as_fd).collect();
        self.mouth.put(&JobOrder::Start { environment }, &descriptors).await
    }

    /// The change that began a leadership. None: the node has stopped.
    async fn change(&self, lead: &Lead) -> Option<Arc<RoleChange>> {
        let number = lead.group_number();
        let mut seen = None;
        loop {
            // The history may be a moment behind the node.
            for change in self.agent.history().after(seen).await?.changes {
                seen = Some(change.index);
                if change.role == RoleKind::Leader && change.group_number == Some(number) {
                    return Some(change);
                }
            }
        }
    }
}

/// How much longer than its grace a job's end may take to be reported.
const STOP_MARGIN: Duration = Duration::from_secs(2);

/// How long a killed job may take to be gone.
const KILL_MAX: Duration = Duration::from_secs(3);
