//! One leadership, as long as it lasts: what a leader holds, and how it learns that it is over.
//!
//! A leadership goes on while this node forms one group after the other itself; its members and its
//! group number change meanwhile.
//!
//! The flag is cleared before the node answers any message of the election that ends its leadership,
//! and the answer waits until every [`LeadGuard`] is dropped. That is stop-before-acknowledge, up to
//! the user's own code.

use std::time::Duration;

use tanist_core::GroupNumber;
use tokio::sync::{mpsc, watch};

use crate::role::View;

/// One leadership, as it was when this value was handed out. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Lead {
    view: View,
    is_leading: watch::Receiver<bool>,
    guards: mpsc::WeakSender<()>,
}

impl Lead {
    /// The group that is led, as it was then; a later one has other members.
    #[must_use]
    pub const fn view(&self) -> &View {
        &self.view
    }

    /// Its number: what to write beside everything that is done in this leadership.
    #[must_use]
    pub const fn group_number(&self) -> GroupNumber {
        self.view.group
    }

    /// Whether this leadership lasts. True says that no election had reached this node when it was
    /// asked; it is no lock.
    #[must_use]
    pub fn is_leading(&self) -> bool {
        *self.is_leading.borrow()
    }

    /// Whether both are of one leadership, which may have formed several groups.
    #[must_use]
    pub fn is_same_leadership(&self, other: &Self) -> bool {
        self.is_leading.same_channel(&other.is_leading)
    }

    /// Waits until the leadership is over.
    pub async fn lost(&self) {
        let mut is_leading = self.is_leading.clone();
        // An error means that the node is gone, and its leadership with it.
        let _ = is_leading.wait_for(|is_leading| !is_leading).await;
    }

    /// Sleeps, but not beyond the end of the leadership. Ask [`Lead::is_leading`] of the result.
    pub async fn sleep(&self, span: Duration) -> &Self {
        tokio::select! {
            () = self.lost() => {}
            () = tokio::time::sleep(span) => {}
        }
        self
    }

    /// Keeps the next group from forming with this node until the guard is dropped.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let scratch = tempfile::tempdir()?;
    /// # let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    /// # let group = tanist::Group::builder("doc").node("n1").peers([format!("n1={address}")])
    /// #     .data_dir(scratch.path()).key(tanist::GroupKey::generate()?).start().await?;
    /// let lead = group.leading().await?;
    /// if let Some(_guard) = lead.guard() {
    ///     // Whatever is written here is written before this node answers the next election.
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// None if the leadership is over. A node whose guard is held for too long is left out of the
    /// next group and joins a later one.
    #[must_use]
    pub fn guard(&self) -> Option<LeadGuard> {
        let guard = self.guards.upgrade()?;
        self.is_leading().then_some(LeadGuard { _open: guard })
    }
}

/// Held while work is done that must be finished before this node answers the next election.
#[derive(Debug)]
pub struct LeadGuard {
    _open: mpsc::Sender<()>,
}

/// The driver's side of a [`Lead`].
#[derive(Debug)]
pub(crate) struct Leadership {
    is_leading: Flag,
    guards: mpsc::Sender<()>,
    all_dropped: mpsc::Receiver<()>,
}

impl Leadership {
    /// Begins one.
    pub(crate) fn begin(view: View) -> (Self, Lead) {
        let (is_leading, seen) = watch::channel(true);
        let (guards, all_dropped) = mpsc::channel(1);
        let lead = Lead { view, is_leading: seen, guards: guards.downgrade() };
        (Self { is_leading: Flag(is_leading), guards, all_dropped }, lead)
    }

    /// The same leadership in another group, which this node has formed itself.
    pub(crate) fn in_group(&self, view: View) -> Lead {
        let Flag(is_leading) = &self.is_leading;
        Lead { view, is_leading: is_leading.subscribe(), guards: self.guards.downgrade() }
    }

    /// Ends it: the flag is lowered now, and what comes back waits for the guards.
    pub(crate) fn end(self) -> Guards {
        let Self { is_leading, guards, all_dropped } = self;
        drop((is_leading, guards));
        Guards { all_dropped }
    }
}

/// Whether the node leads. False as soon as this is dropped, also where a driver fails or panics.
#[derive(Debug)]
struct Flag(watch::Sender<bool>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

/// The guards of a leadership that is over.
#[derive(Debug)]
pub(crate) struct Guards {
    all_dropped: mpsc::Receiver<()>,
}

impl Guards {
    /// Whether none is held.
    pub(crate) fn are_dropped(&mut self) -> bool {
        matches!(self.all_dropped.try_recv(), Err(mpsc::error::TryRecvError::Disconnected))
    }

    /// Waits until none is held.
    pub(crate) async fn dropped(mut self) {
        // Nothing is sent: the answer comes when the last sender is dropped.
        while self.all_dropped.recv().await.is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use tanist_core::{NodeId, NodeSet};

    use super::*;

    fn leadership() -> (Leadership, Lead) {
        let me = NodeId(1);
        let group = GroupNumber { counter: 4, node: me };
        Leadership::begin(View { me, group, coordinator: me, members: NodeSet::from(vec![me]) })
    }

    #[tokio::test]
    async fn the_flag_falls_before_the_guards_do() {
        let (leadership, lead) = leadership();
        assert!(lead.is_leading());
        let guard = lead.guard().unwrap();
        let mut guards = leadership.end();
        assert!(!lead.is_leading());
        lead.lost().await;
        assert!(!guards.are_dropped());
        assert!(lead.guard().is_none(), "a leadership that is over gives no guard");
        drop(guard);
        guards.dropped().await;
    }

    #[tokio::test]
    async fn sleep_ends_with_the_term() {
        let (leadership, lead) = leadership();
        let sleeper = lead.clone();
        let asleep =
            tokio::spawn(
                async move { sleeper.sleep(Duration::from_secs(3600)).await.is_leading() },
            );
        assert!(leadership.end().are_dropped());
        assert!(!asleep.await.unwrap());
    }
}
