//! What an operator can tell a node to do.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tanist::{NodeStopped, SetPriorityError};

use super::Agent;
use crate::terminal::moment;

/// What an operator can tell a node to do. The caller checks who may do so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Action {
    /// Hand over to another node without waiting for any timeout, and stay out for a while.
    StepDown {
        /// For how long the node stays out of elections, in milliseconds.
        #[serde(default = "hold_ms")]
        hold_ms: u64,
    },
    /// Take part again after a step-down, at once.
    Rejoin,
    /// No node of the group begins an election until it is resumed.
    Pause,
    /// End a pause.
    Resume,
    /// Read the file again.
    Reload,
    /// Hand over and end.
    Leave,
    /// Change this node's priority.
    Priority {
        /// The new one.
        value: u32,
    },
}

/// What became of an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Done {
    /// What happened, in a sentence.
    pub(crate) text: String,
}

/// Why nothing happened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ActionError {
    /// It cannot be done in this state or with this configuration.
    #[error("{0}")]
    Refused(String),
    /// The node has stopped.
    #[error("the node has stopped")]
    Ended,
}

impl Agent {
    /// Does it.
    pub(crate) async fn act(&self, action: &Action) -> Result<Done, ActionError> {
        tracing::info!(?action, "told to act");
        let (group, me) = (self.group(), self.group().me());
        let text = match action {
            Action::StepDown { hold_ms } => {
                let hold = Duration::from_millis(*hold_ms);
                let was_leader = group.role().is_leader();
                group.step_down(hold).await?;
                let hold = moment::span(hold);
                let others = if was_leader { "; the others elect at once" } else { "" };
                format!("{me} is withdrawn for {hold}{others}. Back earlier: tanist rejoin")
            }
            Action::Rejoin if !group.is_withdrawn() => format!("{me} takes part already"),
            Action::Rejoin if !self.health().is_healthy() => {
                let what = format!(
                    "{me} is withdrawn because its health check fails, and stays so; nothing was done. \
                     Put right what the check finds, and it rejoins by itself"
                );
                return Err(ActionError::Refused(what));
            }
            Action::Rejoin => {
                group.rejoin().await?;
                format!("{me} takes part again")
            }
            Action::Leave => {
                self.leave().await?;
                format!("{me} has handed over, and its agent ends")
            }
            Action::Pause => {
                group.pause();
                self.settle().await?;
                "elections are PAUSED in the whole group: a dead leader is not replaced. Go on \
                 with: tanist resume"
                    .to_owned()
            }
            Action::Resume if !group.is_paused() => "elections are not paused".to_owned(),
            Action::Resume => {
                group.resume();
                self.settle().await?;
                "elections go on, and what was put off is done now".to_owned()
            }
            Action::Reload => return self.reload().await,
            Action::Priority { value } => {
                group.set_priority(*value).await?;
                format!("{me} has priority {value} now; it counts at the next election")
            }
        };
        Ok(Done { text })
    }

    /// Hands over; the node then stops, also if the client does not wait.
    async fn leave(&self) -> Result<(), ActionError> {
        // Jobs hear of it first, so that none of them waits to be started again.
        self.inner.leaving.send_replace(true);
        let group = self.group().clone();
        let handing_over = tokio::spawn(async move {
            let done = group.withdraw().await;
            // The answer goes out first: ending takes the socket away.
            tokio::spawn(group.shutdown());
            done
        });
        Ok(handing_over.await.map_err(|_| ActionError::Ended)??)
    }

    /// Waits until the node has done what was asked of it before: it takes requests in their order.
    async fn settle(&self) -> Result<(), ActionError> {
        self.group().metrics().await.map(|_| ()).ok_or(ActionError::Ended)
    }
}

impl From<NodeStopped> for ActionError {
    fn from(_: NodeStopped) -> Self {
        Self::Ended
    }
}

impl From<SetPriorityError> for ActionError {
    fn from(error: SetPriorityError) -> Self {
        match error {
            SetPriorityError::Fixed(why) => Self::Refused(why.to_string()),
            SetPriorityError::Stopped(_) => Self::Ended,
        }
    }
}

fn hold_ms() -> u64 {
    u64::try_from(DEFAULT_HOLD.as_millis()).unwrap_or(u64::MAX)
}

/// Long enough for the others to elect and to settle.
const DEFAULT_HOLD: Duration = Duration::from_secs(10);
