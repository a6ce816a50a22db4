//! What a test does to the machines, the network and the nodes of a world.

use std::time::Duration;

use tanist_core::NodeId;
use tanist_core::trace::Link;
use tanist_sim::world::faults::Action;

use super::name::Name;
use super::world::{World, index};
use crate::task::GroupTask;

impl<T: GroupTask> World<T> {
    /// Kills a node: its task is dropped where it stands. Nothing if it is down already.
    ///
    /// # Panics
    /// Like everything that names a node, if there is no such node.
    pub fn crash(&mut self, node: impl Name) {
        let node = self.known(node);
        self.act(Action::Crash(node));
    }

    /// Kills a node in the middle of its next step that wants at least so many things done, after
    /// that many of them: between saving a number and telling it, for example.
    pub fn crash_after_effects(&mut self, node: impl Name, effects: u32) {
        let node = self.known(node);
        self.act(Action::CrashAfterEffects(node, effects));
    }

    /// Starts a node that is down, with a new task. Nothing if it is up.
    pub fn restart(&mut self, node: impl Name) {
        let node = self.known(node);
        self.act(Action::Restart { node, lost_writes: 0 });
    }

    /// Stops a node as if its machine hung. Its mail and its clock go on.
    pub fn pause(&mut self, node: impl Name) {
        let node = self.known(node);
        self.act(Action::Pause(node));
    }

    /// Lets a node that hung go on: it finds its mail, and all its timers run out.
    pub fn resume(&mut self, node: impl Name) {
        let node = self.known(node);
        self.act(Action::Resume(node));
    }

    /// Cuts every link between these nodes and all others, on top of what is cut already.
    pub fn cut(&mut self, side: impl IntoIterator<Item = impl Name>) {
        let side: Vec<NodeId> = side.into_iter().map(|node| self.known(node)).collect();
        let mut links = Vec::new();
        for inside in &side {
            for outside in self.nodes().filter(|node| !side.contains(node)) {
                links.push(Link { from: *inside, to: outside });
                links.push(Link { from: outside, to: *inside });
            }
        }
        // To heal no links means to heal all; to cut none is just nothing.
        if !links.is_empty() {
            self.act(Action::Cut(links));
        }
    }

    /// Cuts one link in one direction.
    pub fn cut_link(&mut self, from: impl Name, to: impl Name) {
        let (from, to) = (self.known(from), self.known(to));
        self.act(Action::Cut(vec![Link { from, to }]));
    }

    /// Mends every link that was cut.
    pub fn heal(&mut self) {
        let global = &self.inner.observers.global;
        let hears = |a| self.nodes().all(|b| a == b || global.hears(a, b));
        if self.nodes().all(hears) {
            return;
        }
        self.act(Action::Heal(Vec::new()));
    }

    /// Makes every message from or to a node take longer by this much; no time makes it as before.
    pub fn slow(&mut self, node: impl Name, by: Duration) {
        let node = self.known(node);
        self.slow[index(node)] = by;
        self.act(Action::Slow(node, by));
    }

    /// Sets how many of a million messages are lost from here on; none makes it as live connections
    /// have it.
    pub fn loss_ppm(&mut self, ppm: u32) {
        self.act(Action::Loss(ppm));
    }

    /// Sets how many of a million messages arrive twice from here on; none makes it as live
    /// connections have it.
    pub fn duplicates_ppm(&mut self, ppm: u32) {
        self.act(Action::Duplicate(ppm));
    }

    /// Lets a node hand over and take no part until [`World::rejoin`], as
    /// [`Group::withdraw`](crate::Group::withdraw) does.
    ///
    /// ```
    /// use tanist::sim::{Idle, World};
    ///
    /// # fn main() -> Result<(), tanist::sim::NeverError> {
    /// let mut world = World::new(7, 3, |_| Idle);
    /// world.run_until(World::is_one_group)?;
    /// let leader = world.groups()[0].coordinator;
    /// world.withdraw(leader);
    /// world.run_until(|world| world.is_withdrawn(leader) && world.is_one_group())?;
    /// assert_eq!(world.groups()[0].members.len(), 2);
    /// world.rejoin(leader);
    /// world.run_until(|world| world.is_one_group() && world.groups()[0].members.len() == 3)?;
    /// # Ok(()) }
    /// ```
    pub fn withdraw(&mut self, node: impl Name) {
        let node = self.known(node);
        self.act(Action::Withdraw { node, hold: None });
    }

    /// Lets a node hand over and take no part for this long, as
    /// [`Group::step_down`](crate::Group::step_down) does.
    pub fn step_down(&mut self, node: impl Name, hold: Duration) {
        let node = self.known(node);
        self.act(Action::Withdraw { node, hold: Some(hold) });
    }

    /// Ends [`World::withdraw`] or [`World::step_down`]. Nothing if the node takes part.
    pub fn rejoin(&mut self, node: impl Name) {
        let node = self.known(node);
        self.act(Action::Rejoin(node));
    }

    /// Lets a node hold an election, as [`Group::call_election`](crate::Group::call_election) does.
    pub fn call_election(&mut self, node: impl Name) {
        let node = self.known(node);
        self.act(Action::Call(node));
    }
}
