//! Whether a leader acts: it leads, and nobody whom it can reach stands against it.
//!
//! Leading is the election's word, acting is the agent's: jobs run, hooks say `leader` and load
//! balancers are told only while a node acts. It acts until its term ends; that nobody opposes is
//! asked once, when the term begins.

use tanist::{Group, Lead, Role};
use tokio::sync::watch;

/// The term in which the node acts, if it does.
#[derive(Debug)]
pub(crate) struct Acting {
    term: watch::Receiver<Option<Lead>>,
}

impl Acting {
    /// Follows a node, in a task that ends with it.
    pub(crate) fn follow(group: &Group) -> Self {
        let (acts, term) = watch::channel(None);
        tokio::spawn(keep(group.clone(), acts));
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

impl Clone for Acting {
    fn clone(&self) -> Self {
        Self { term: self.term.clone() }
    }
}

async fn keep(group: Group, acts: watch::Sender<Option<Lead>>) {
    let mut roles = group.roles();
    while let Some(role) = roles.next().await {
        let Role::Leader(lead) = role else { continue };
        if group.unopposed(&lead).await {
            acts.send_replace(Some(lead.clone()));
            lead.lost().await;
            acts.send_replace(None);
        }
    }
}
