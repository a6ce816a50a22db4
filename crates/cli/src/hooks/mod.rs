//! Programs that are run when the role of a node changes.
//!
//! ```text
//!   History --changes-------------\
//!   Activities --leaderships-------> Feed --News--> Queue --one at a time--> Runner --> processes
//!   Gate --questions--------------/   in the order of the history
//! ```
//!
//! Never two at once, always in the order of the history. No election waits for them: the node's
//! driver has a thread of its own and knows nothing of hooks. Only `pre_leader` holds something up:
//! the node is not active before it has succeeded. So hooks of different nodes may overlap: a new
//! leader's `leader` may run while the old one's `suspended` still does. Left out: waiting for a
//! job to end (`tanist run`).

pub(crate) mod counters;
pub(crate) mod event;
mod feed;
pub(crate) mod launch;
pub(crate) mod permission;
pub(crate) mod pre_leader;
pub(crate) mod program;
mod queue;
pub(crate) mod runner;

use std::time::Instant;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use self::event::Event;
use self::feed::Feed;
use self::pre_leader::Questions;
use self::queue::Queue;
use self::runner::Runner;
use crate::agent::Agent;

/// The hooks of an agent, at work in a task of their own.
#[derive(Debug)]
pub(crate) struct Hooks {
    work: JoinHandle<()>,
    is_clean: oneshot::Sender<()>,
}

impl Hooks {
    /// Tells hooks what the node is, and everything that it becomes.
    pub(crate) fn start(agent: &Agent, questions: Questions) -> Self {
        let (is_clean, ending) = oneshot::channel();
        let feed = Feed::new(agent.clone(), questions);
        let work = tokio::spawn(work(feed, Runner::new(agent.clone()), ending));
        Self { work, is_clean }
    }

    /// Waits until the last hooks of a node that has stopped were run, and `stop` if that was a
    /// clean end.
    pub(crate) async fn finish<E>(self, ended: &Result<(), E>) {
        match ended {
            // A task that is gone runs no hooks.
            Ok(()) => drop(self.is_clean.send(())),
            Err(_) => drop(self.is_clean),
        }
        let _ = self.work.await;
    }
}

/// Tells one thing after the other, and collects what happens meanwhile.
async fn work(mut feed: Feed, mut runner: Runner, ending: oneshot::Receiver<()>) {
    let mut queue = Queue::default();
    loop {
        let (news, skipped) = queue.next(Instant::now());
        runner.skip(&skipped);
        match news {
            Some(news) => {
                let telling = runner.tell(news);
                tokio::pin!(telling);
                loop {
                    tokio::select! {
                        () = &mut telling => break,
                        () = feed.fill(&mut queue), if !feed.is_over() => {}
                    }
                }
            }
            None if feed.is_over() => break,
            None => feed.fill(&mut queue).await,
        }
    }
    let is_clean = ending.await.is_ok();
    if let Some(change) = feed.last().filter(|_| is_clean) {
        // What went wrong was logged.
        let _ = runner.run(Event::Stop, change).await;
    }
}
