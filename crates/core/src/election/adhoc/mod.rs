//! Elections in ad-hoc radio networks, where a node reaches only nodes in range, does not know them
//! beforehand, and they change all the time (W-01 to W-03).
//!
//! Two algorithms find a leader; from there on both do the same. A leader floods heartbeats, and
//! every node follows the best leader whose heartbeats it receives ([`leadership`]):
//!
//! ```text
//!   no heartbeat for 3h, or none ever         a better leader's heartbeat arrives
//!        +-----> electing -----> leading ----------------------+
//!        |           |                                         v
//!        +-----------+-----------------------------------> following
//! ```
//!
//! So where components meet the better leader wins, and the next heartbeat corrects the result of
//! an election that went wrong. At any moment there may be several leaders, also in one component:
//! the guarantee is that a component whose links stay as they are ends with one leader, its best
//! node, that all its nodes follow it, and that this is stable.
//!
//! Assumes links that work in both directions, and that no two nodes are further apart than the
//! limit on floods ([`limit`]). Leaves out: the hand-over of a state (members are many links away,
//! and what is sent to one node is not passed on), and a list of members.

pub mod diffusing;
pub mod expanding_ring;
pub mod leadership;
pub mod limit;
mod neighbours;
mod pace;
mod search_message;
#[cfg(test)]
mod tests;

pub use diffusing::Diffusing;
pub use expanding_ring::ExpandingRing;

/// What both algorithms guarantee.
const GUARANTEE: &str = "once links stay as they are, every component has one leader, its best \
                         node, and all its nodes follow it. Until then there may be several, \
                         and no state is handed over";
