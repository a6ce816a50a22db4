//! Whether a leader acts: it leads, nobody whom it can reach stands against it, and the gate lets
//! it through.
//!
//! Leading is the election's word, acting is the agent's: jobs run, hooks say `leader` and load
//! balancers are told only while a node acts. It acts until its term ends; that nobody opposes, and
//! the gate (`pre_leader`), are asked once, when the term begins. A node that is refused steps down.

use tanist::{Group, Lead, Role};
use tokio::sync::watch;

use crate::hooks::pre_leader::{Gate, hold_after};

/// The term in which the node acts, if it does.
#[derive(Clone, Debug)]
pub(crate) struct Acting {
    term: watch::Receiver<Option<Lead>>,
}

impl Acting {
    /// Follows a node, in a task that ends with it.
    pub(crate) fn follow(group: &Group, gate: Gate) -> Self {
        let (acts, term) = watch::channel(None);
        tokio::spawn(keep(group.clone(), gate, acts));
        Self { term }
    }

    /// The term in which the node acts at the moment.
    pub(crate) fn now(&self) -> Option<Lead> {
        self.term.borrow().clone().filter(Lead::is_leading)
    }

    /// Waits until the node acts in this term. False: the term is over.
    pub(crate) async fn begins(&self, lead: &Lead) -> bool {
        let mut term = self.term.clone();
        let number = lead.group_number();
        let acts =
            |now: &Option<Lead>| now.as_ref().is_some_and(|now| now.group_number() == number);
        tokio::select! {
            () = lead.lost() => false,
            // An error means that the node has ended.
            acts = term.wait_for(acts) => acts.is_ok() && lead.is_leading(),
        }
    }

    /// Waits until the node acts in another term than before, or no longer.
    pub(crate) async fn changed(&mut self) -> Option<()> {
        self.term.changed().await.ok()
    }
}

async fn keep(group: Group, gate: Gate, acts: watch::Sender<Option<Lead>>) {
    let mut roles = group.roles();
    let mut refusals = 0;
    while let Some(role) = roles.next().await {
        let Role::Leader(lead) = role else { continue };
        if !group.unopposed(&lead).await {
            continue;
        }
        if gate.admits(&lead).await {
            refusals = 0;
            acts.send_replace(Some(lead.clone()));
            lead.lost().await;
            acts.send_replace(None);
        } else if lead.is_leading() {
            refusals += 1;
            let hold = hold_after(refusals);
            tracing::warn!(?hold, "the pre_leader hook has refused: this node steps down");
            // A node that has ended leads no more.
            let _ = group.step_down(hold).await;
            lead.lost().await;
        }
    }
}
