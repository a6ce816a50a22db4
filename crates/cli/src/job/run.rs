//! The life of `tanist run`: wait until the agent says start, run the command, stop it when the
//! agent says stop or a signal asks for an end.
//!
//! ```text
//!   Waiting --start--> running --command ends--> exit with its code
//!      ^                  |
//!      +----- restart ----+---stop---> exit, if asked to or if leading is over and so wanted
//! ```
//!
//! A wish to end is heard before a start that came at the same time: once a shutdown has begun, no
//! command is started.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::future::pending;
use std::os::fd::OwnedFd;
use std::time::Duration;

use super::channel::Channel;
use super::ending::{LOST, OUR_FAILURE, WAITED_TOO_LONG};
use super::kept::{Held, Kept, Over};
use super::signals::{Signals, Wish};
use crate::control::protocol::{JobNews, JobOrder};
use crate::terminal::output::complain;

/// What is run, and how.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The command and its arguments.
    pub(crate) command: Vec<OsString>,
    /// How long it has to end, once it is asked to.
    pub(crate) grace: Duration,
    /// How long to wait for leadership.
    pub(crate) wait: Option<Duration>,
    /// What to do when leadership is lost.
    pub(crate) on_loss: OnLoss,
}

impl Plan {
    /// The exit code when the node has left its group: there is nothing to wait for any more.
    const fn code_of_leaving(&self) -> u8 {
        match self.on_loss {
            // A supervisor may start us again, and the node with us.
            OnLoss::Restart | OnLoss::Exit => LOST,
            OnLoss::Stop => 0,
        }
    }
}

/// What to do when leadership is lost. The command is stopped in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OnLoss {
    /// Wait, and start the command again when this node leads again.
    Restart,
    /// Exit with 75, for a supervisor that should notice.
    Exit,
    /// Exit with 0: another node does the work, and that is no failure.
    Stop,
}

/// Runs the plan in a conversation with an agent. Gives the exit code; no process is left then.
pub(crate) async fn run(plan: &Plan, agent: &mut Channel, signals: &mut Signals) -> u8 {
    loop {
        let (environment, port) = match wait(plan, agent, signals).await {
            Waited::Start { environment, port } => (environment, port),
            Waited::Exit(code) => {
                // An agent that is gone needs no news.
                let _ = agent.put(&JobNews::Detached, &[]).await;
                return code;
            }
        };
        let held = Held { connection: agent.socket(), port };
        let started = Kept::start(&plan.command, &environment, plan.grace, held).await;
        let over = match started {
            Ok(kept) => attend(kept, agent, signals).await,
            Err(error) => {
                complain(&format!(
                    "tanist: cannot start a process: {error}. The command does not run; \
                     see whether this user has too many: ulimit -u"
                ));
                return OUR_FAILURE;
            }
        };
        let (news, code) = match over {
            End::Own(code) => (JobNews::Exited { code }, Some(code)),
            End::Asked(code) => (JobNews::Detached, Some(code)),
            End::Failed => return OUR_FAILURE,
            End::Left => (JobNews::Detached, Some(plan.code_of_leaving())),
            End::Lost => match plan.on_loss {
                OnLoss::Restart => (JobNews::Stopped, None),
                OnLoss::Exit => (JobNews::Detached, Some(LOST)),
                OnLoss::Stop => (JobNews::Detached, Some(0)),
            },
        };
        // An agent that is gone needs no news.
        let _ = agent.put(&news, &[]).await;
        if let Some(code) = code {
            return code;
        }
    }
}

enum Waited {
    Start { environment: BTreeMap<String, String>, port: Option<OwnedFd> },
    Exit(u8),
}

async fn wait(plan: &Plan, agent: &mut Channel, signals: &mut Signals) -> Waited {
    let limit = async {
        match plan.wait {
            Some(limit) => tokio::time::sleep(limit).await,
            None => pending().await,
        }
    };
    tokio::pin!(limit);
    loop {
        tokio::select! {
            biased;
            wish = signals.next() => match wish {
                Wish::End | Wish::PassOrEnd(_) => return Waited::Exit(0),
                // There is no process to pass it to.
                Wish::Pass(_) => {}
            },
            order = agent.next() => match order {
                Ok(Some(JobOrder::Start { environment })) => {
                    let port = agent.descriptors().into_iter().next();
                    return Waited::Start { environment, port };
                }
                Ok(Some(JobOrder::Refuse { reason })) => {
                    complain(&format!("tanist: {reason}. The command does not run"));
                    return Waited::Exit(OUR_FAILURE);
                }
                // It ended in the same moment.
                Ok(Some(JobOrder::Stop { .. })) => {}
                Ok(Some(JobOrder::Leave)) => {
                    complain("tanist: the node leaves its group, so nothing will be run here");
                    return Waited::Exit(plan.code_of_leaving());
                }
                Ok(None) => {
                    complain("tanist: the agent has gone; start it again");
                    return Waited::Exit(OUR_FAILURE);
                }
                Err(error) => {
                    complain(&format!(
                        "tanist: the agent is not understood ({error}), so it is unknown who \
                         leads. Are both of one version? See: tanist --version"
                    ));
                    return Waited::Exit(OUR_FAILURE);
                }
            },
            () = &mut limit => {
                complain("tanist: this node did not lead within the time of --wait; nothing was run");
                return Waited::Exit(WAITED_TOO_LONG);
            }
        }
    }
}

/// How the command's run ended.
enum End {
    /// By itself.
    Own(u8),
    /// Because a signal asked us to end.
    Asked(u8),
    /// Because leadership was lost.
    Lost,
    /// Because the node leaves its group.
    Left,
    /// Because something of ours failed.
    Failed,
}

/// Why the command was told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Lost,
    Left,
    Asked,
    AgentGone,
}

async fn attend(mut kept: Kept, agent: &mut Channel, signals: &mut Signals) -> End {
    let mut why = None;
    let over = loop {
        tokio::select! {
            biased;
            wish = signals.next() => match wish {
                Wish::End if why == Some(Why::Asked) => {
                    complain("tanist: asked twice; the command is killed");
                    kept.kill().await;
                }
                Wish::End => {
                    why = why.filter(|why| *why == Why::AgentGone).or(Some(Why::Asked));
                    kept.stop().await;
                }
                Wish::PassOrEnd(signal) | Wish::Pass(signal) => kept.pass(signal).await,
            },
            order = agent.next(), if why != Some(Why::AgentGone) => match order {
                // It has one already, and was taken.
                Ok(Some(JobOrder::Start { .. } | JobOrder::Refuse { .. })) => {}
                Ok(Some(JobOrder::Stop { reason })) => {
                    complain(&format!("tanist: {reason}; the command is stopped"));
                    why = why.or(Some(Why::Lost));
                    kept.stop().await;
                }
                Ok(Some(JobOrder::Leave)) => {
                    complain("tanist: the node leaves its group; the command is stopped");
                    why = why.filter(|why| *why == Why::Asked).or(Some(Why::Left));
                    kept.stop().await;
                }
                Ok(None) | Err(_) => {
                    complain("tanist: the agent has gone; the command is killed");
                    why = Some(Why::AgentGone);
                    kept.kill().await;
                }
            },
            over = kept.over() => break over,
        }
    };
    match (over, why) {
        (Over::KeeperLost, _) => {
            complain("tanist: the keeper of the command was killed, and with it the command");
            End::Failed
        }
        (Over::Ended { .. }, Some(Why::AgentGone)) => End::Failed,
        (Over::Ended { was_told: true, .. }, Some(Why::Lost)) => End::Lost,
        (Over::Ended { was_told: true, .. }, Some(Why::Left)) => End::Left,
        (Over::Ended { ending, .. }, Some(Why::Asked)) => End::Asked(ending.code()),
        (Over::Ended { ending, .. }, Some(Why::Lost | Why::Left) | None) => End::Own(ending.code()),
    }
}
