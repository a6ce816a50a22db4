//! The `pre_leader` check: whether a node that leads may become active.

use std::sync::Arc;
use std::time::Duration;

use tanist::{Lead, Verdict, Veto};
use tokio::sync::{mpsc, oneshot, watch};

use crate::config::Config;

/// Asks the `pre_leader` hook whether a leader may become active; permits it if there is none.
#[derive(Debug)]
pub(crate) struct PreLeaderCheck {
    questions: mpsc::UnboundedSender<Question>,
    config: watch::Receiver<Arc<Config>>,
    /// How often in a row the node was refused.
    refusals: u32,
}

/// Whether the node may be active in this leadership.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) lead: Lead,
    pub(crate) reply: oneshot::Sender<bool>,
}

/// The questions, for the task that runs hooks.
#[derive(Debug)]
pub(crate) struct Questions {
    pub(crate) asked: mpsc::UnboundedReceiver<Question>,
}

impl PreLeaderCheck {
    /// Asks as long as the configuration has the hook.
    pub(crate) fn new(config: watch::Receiver<Arc<Config>>) -> (Self, Questions) {
        let (questions, asked) = mpsc::unbounded_channel();
        (Self { questions, config, refusals: 0 }, Questions { asked })
    }

    /// Waits for the answer. False as well if the leadership is over before it comes.
    async fn admits(&self, lead: &Lead) -> bool {
        if self.config.borrow().hooks.pre_leader.is_none() {
            return true;
        }
        let (reply, answer) = oneshot::channel();
        if self.questions.send(Question { lead: lead.clone(), reply }).is_err() {
            return false;
        }
        tokio::select! {
            () = lead.lost() => false,
            // Without an answer there is no permission.
            is_admitted = answer => is_admitted.unwrap_or(false) && lead.is_leading(),
        }
    }
}

impl Veto for PreLeaderCheck {
    async fn judge(&mut self, lead: &Lead) -> Verdict {
        if self.admits(lead).await {
            self.refusals = 0;
            return Verdict::Permit;
        }
        if lead.is_leading() {
            self.refusals += 1;
            let hold = hold_after(self.refusals);
            tracing::warn!(?hold, "the pre_leader hook has refused: this node steps down");
        }
        Verdict::Refuse { hold: hold_after(self.refusals) }
    }
}

/// For how long a node stays withdrawn that was refused so often in a row: longer each time, since
/// each return is an election for all nodes.
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
