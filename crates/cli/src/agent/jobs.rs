//! The agent's side of a job: tell a client to start it when the node is active, tell it to stop,
//! and hold the next election up until no process of the job is left.
//!
//! The client's connection is held by its keeper as well, so it closes only when the job is gone;
//! then, and when the client says so, the guard is dropped. A client that hangs is given its grace,
//! then its connection is closed, which its keeper takes as an order to kill. Assumes that a killed
//! job is gone within [`KILL_MAX`]; after that the node answers without it.
//!
//! A leader whose last job is lost does not do what it was elected for. Unless it is configured to
//! wait, that is an objection to its taking part, until a job is attached again or an operator says
//! so. A job that ended well, and a client that was told to end, are no loss.

use std::future::pending;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::net::Shutdown;
use tanist::{Lead, Objection, RoleKind};
use tokio::net::UnixStream;
use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;

use super::Agent;
use super::environment::environment;
use crate::agent::change::RoleChange;
use crate::config::OnJobLost;
use crate::control::protocol::{JobNews, JobOrder};
use crate::job::channel::Channel;
use crate::terminal::moment;

/// The jobs that are attached to a node by clients of its socket.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    state: StdMutex<JobsState>,
}

#[derive(Debug, Default)]
struct JobsState {
    attached: u32,
    /// How the last one was lost, if the node takes no part for that.
    lost: Option<String>,
}

impl Jobs {
    /// How the last job was lost, if the node takes no part for that.
    pub(crate) fn lost(&self) -> Option<String> {
        self.lock().lost.clone()
    }

    fn lock(&self) -> MutexGuard<'_, JobsState> {
        // No holder can panic: every change is a plain assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Agent {
    /// Takes part in spite of a lost job.
    pub(super) fn forget_lost_job(&self) {
        if self.jobs().lock().lost.take().is_some() {
            self.group().lift(Objection::Job);
        }
    }

    fn note_attached(&self) {
        self.jobs().lock().attached += 1;
        self.forget_lost_job();
    }

    /// A client is gone, and its job with it; none: in an orderly way.
    fn note_detached(&self, loss: Option<String>) {
        let mut state = self.jobs().lock();
        state.attached = state.attached.saturating_sub(1);
        let others = state.attached;
        let Some(why) = loss.filter(|_| !self.is_leaving()) else { return };
        let on_job_lost = self.config().on_job_lost;
        match on_job_lost {
            OnJobLost::StepDown if others == 0 => {
                tracing::warn!(
                    "a job is lost ({why}): this node withdraws until `tanist run` attaches again \
                     (on_job_lost)"
                );
                state.lost = Some(why);
                self.group().object(Objection::Job);
            }
            OnJobLost::StepDown | OnJobLost::Wait => {
                tracing::warn!(others, "a job is lost ({why}): this node takes part without it");
            }
        }
    }
}

/// A connection over which a client has offered to run a job.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) stream: UnixStream,
    /// What was read from it beyond the offer.
    pub(crate) unread: Vec<u8>,
    /// How long the job may take to end.
    pub(crate) grace: Duration,
}

/// Has a client of the socket run its job, and notes how it ends.
pub(crate) async fn attach(with: Conversation, agent: &Agent) -> io::Result<()> {
    agent.note_attached();
    let last = Arc::new(StdMutex::new(None));
    let attended = attend(with, agent, &last).await;
    let last = *last.lock().unwrap_or_else(PoisonError::into_inner);
    agent.note_detached(match last {
        Some(JobNews::Detached | JobNews::Exited { code: 0 }) => None,
        Some(JobNews::Exited { code }) => Some(format!("its command exited with {code}")),
        Some(JobNews::Stopped) | None => Some("`tanist run` died".to_owned()),
    });
    attended
}

/// Has the command of this process run.
pub(crate) async fn attend_own(with: Conversation, agent: &Agent) -> io::Result<()> {
    attend(with, agent, &Arc::default()).await
}

/// Has a client run its job whenever the node is active, until one of them is gone. `last` gets the
/// client's last news.
async fn attend(
    with: Conversation,
    agent: &Agent,
    last: &Arc<StdMutex<Option<JobNews>>>,
) -> io::Result<()> {
    let Conversation { stream, unread, grace } = with;
    let stream = stream.into_std()?;
    let mut ears = Channel::after(UnixStream::from_std(stream.try_clone()?)?, unread);
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
            last.lock().unwrap_or_else(PoisonError::into_inner).replace(news);
            // An error means that the conversation is over.
            let _ = heard.send(news).await;
        }
        Ok(())
    };
    let limit = grace + STOP_MARGIN + KILL_MAX;
    warn_of_grace(grace, limit, agent);
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
    tokio::pin!(listen);
    tokio::select! {
        gone = &mut listen => gone,
        ended = work => match ended {
            // A client that is gone may have said why.
            Ok(Some(())) => timeout(LAST_WORDS_MAX, listen).await.unwrap_or(Ok(())),
            // The node has stopped: the keeper of the job must see that at once.
            Ok(None) | Err(_) => Ok(()),
        },
        () = farewell => Ok(()),
    }
}

/// A job with a longer grace than its node waits is given up while it may still stop in order.
fn warn_of_grace(grace: Duration, limit: Duration, agent: &Agent) {
    let within = agent.config().timing.config().stop_within;
    if limit > within {
        tracing::warn!(
            "a job has --grace {}, which does not fit into timing.stop_within ({within}): after \
             {within} this node is left out of its group, and a step-down is reported as failed, \
             although the job may still stop in order. Give a shorter --grace, or at least {} for \
             timing.stop_within",
            moment::short(grace),
            moment::short(limit),
            within = moment::short(within),
        );
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
    if timeout(client.grace + STOP_MARGIN, news.recv()).await.is_err() {
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

/// How long a client whose job has ended may take to be gone.
const LAST_WORDS_MAX: Duration = Duration::from_secs(1);
