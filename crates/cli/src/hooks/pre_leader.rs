//! The `pre_leader` check: whether a node may be a candidate, and whether a leader may be active.
//!
//! ```text
//!   start ------> asked --permits--> candidate --leads--> asked --permits--> active
//!                   ^  \--refuses--> withdrawn <-----------------refuses--/
//!                   +---- the back-off is over, a reload, `rejoin` --/
//! ```
//!
//! A node whose check refuses is withdrawn and asked again before it rejoins, so it takes no
//! leadership away from another node only to be refused once more. The back-off grows until a
//! leader was permitted: a check that permits candidates and refuses leaders would otherwise cause
//! an election every few seconds.

use std::sync::Arc;
use std::time::Duration;

use tanist::{Lead, Verdict, Veto};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use crate::config::Config;

/// The check of one node. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    questions: mpsc::UnboundedSender<Question>,
    config: watch::Receiver<Arc<Config>>,
    state: Arc<watch::Sender<State>>,
    hurry: Arc<Notify>,
}

/// What it said so far.
#[derive(Clone, Debug, Default)]
struct State {
    /// How often in a row the node was refused.
    refusals: u32,
    /// Why the node is no candidate, if it is none.
    refusal: Option<Refusal>,
}

/// Why a node is no candidate.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    /// What the hook did, such as `it exited with 1`.
    pub(crate) why: String,
    /// When it is asked again; none while it is asked for the first time.
    pub(crate) again: Option<Instant>,
}

/// Whether the node may be a candidate, or active in its leadership.
#[derive(Debug)]
pub(crate) struct Question {
    /// The leadership; none while the node takes no part.
    pub(crate) lead: Option<Lead>,
    /// An error says what the hook did instead of permitting it.
    pub(crate) reply: oneshot::Sender<Result<(), String>>,
}

/// The questions, for the task that runs hooks.
#[derive(Debug)]
pub(crate) struct Questions {
    pub(crate) asked: mpsc::UnboundedReceiver<Question>,
}

impl Gate {
    /// Asks as long as the configuration has the hook.
    pub(crate) fn new(config: watch::Receiver<Arc<Config>>) -> (Self, Questions) {
        let (questions, asked) = mpsc::unbounded_channel();
        let (state, hurry) = (Arc::new(watch::Sender::default()), Arc::new(Notify::new()));
        (Self { questions, config, state, hurry }, Questions { asked })
    }

    /// Why the node is no candidate, if it is none.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        self.state.borrow().refusal.clone()
    }

    /// Asks at once instead of after the back-off, and waits for the answer.
    pub(crate) async fn ask_now(&self) {
        let mut state = self.state.subscribe();
        if self.refusal().is_some_and(|refusal| refusal.again.is_some()) {
            self.hurry.notify_one();
        }
        // The sender lives as long as this gate.
        let _ = state.changed().await;
    }

    /// Waits until the node may be a candidate. Never ends if hooks run no more.
    pub(crate) async fn permits(&self) {
        let mut config = self.config.clone();
        config.mark_unchanged();
        self.state.send_if_modified(|state| {
            let why = || "it has not answered yet".to_owned();
            state.refusal.get_or_insert_with(|| Refusal { why: why(), again: None });
            // It is no answer.
            false
        });
        loop {
            let again = self.refusal().and_then(|refusal| refusal.again);
            tokio::select! {
                () = until(again) => {}
                () = self.hurry.notified() => {}
                // The hook may be another one, or gone.
                Ok(()) = config.changed() => {}
            }
            match self.ask(None).await {
                Some(Ok(())) => {
                    self.state.send_modify(|state| state.refusal = None);
                    return;
                }
                Some(Err(why)) => {
                    let hold = self.refuse(why);
                    tracing::warn!(
                        ?hold,
                        "the pre_leader hook has refused: this node stays withdrawn"
                    );
                }
                None => std::future::pending().await,
            }
        }
    }

    /// The hook's answer. None: the leadership is over, or hooks run no more.
    async fn ask(&self, lead: Option<&Lead>) -> Option<Result<(), String>> {
        if self.config.borrow().hooks.pre_leader.is_none() {
            return Some(Ok(()));
        }
        let (reply, answer) = oneshot::channel();
        self.questions.send(Question { lead: lead.cloned(), reply }).ok()?;
        let over = async {
            match lead {
                Some(lead) => lead.lost().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = over => None,
            answer = answer => answer.ok(),
        }
    }

    /// Notes a refusal, and says for how long the node is not asked again.
    fn refuse(&self, why: String) -> Duration {
        let refusals = self.state.borrow().refusals.saturating_add(1);
        let hold = hold_after(refusals);
        let refusal = Some(Refusal { why, again: Some(Instant::now() + hold) });
        self.state.send_replace(State { refusals, refusal });
        hold
    }
}

impl Veto for Gate {
    async fn judge(&mut self, lead: &Lead) -> Verdict {
        match self.ask(Some(lead)).await {
            Some(Ok(())) => {
                if lead.is_leading() {
                    self.state.send_replace(State::default());
                }
                Verdict::Permit
            }
            Some(Err(why)) => {
                if lead.is_leading() {
                    let hold = self.refuse(why);
                    tracing::warn!(?hold, "the pre_leader hook has refused: this node steps down");
                }
                Verdict::Refuse
            }
            None => Verdict::Refuse,
        }
    }

    async fn relents(&mut self) {
        self.permits().await;
    }
}

async fn until(at: Option<Instant>) {
    if let Some(at) = at {
        sleep_until(at).await;
    }
}

/// For how long a node stays withdrawn that was refused so often in a row: longer each time.
fn hold_after(refusals: u32) -> Duration {
    FIRST_HOLD.saturating_mul(2_u32.saturating_pow(refusals.saturating_sub(1))).min(LAST_HOLD)
}

const FIRST_HOLD: Duration = Duration::from_secs(10);
const LAST_HOLD: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_is_refused_again_and_again_stays_out_longer_each_time() {
        let holds = [1, 2, 3, 10, u32::MAX].map(|refusals| hold_after(refusals).as_secs());
        assert_eq!(holds, [10, 20, 40, 300, 300]);
    }
}
