//! Elections in networks without infrastructure: whoever is in range hears, nobody knows who that
//! is, and it changes all the time (W-01 to W-03).
//!
//! Two algorithms find a leader; from there on both do the same. A leader floods heartbeats, and
//! everybody follows the best leader of whom heartbeats arrive ([`leadership`]):
//!
//! ```text
//!   no heartbeat for 3h, or none ever         a better leader's heartbeat arrives
//!        +-----> electing -----> leading ----------------------+
//!        |           |                                         v
//!        +-----------+-----------------------------------> following
//! ```
//!
//! So where components meet the better leader wins, and whatever went wrong in an election is put
//! right by the next heartbeat. At any moment there may be several leaders, also in one component:
//! what is promised is that a component whose links stay as they are has one leader in the end, its
//! best node, that everybody in it follows it, and that it stays so.
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
#[cfg(test)]
mod tests;

pub use diffusing::Diffusing;
pub use expanding_ring::ExpandingRing;

/// What both algorithms guarantee.
const GUARANTEE: &str = "once links stay as they are, every component has one leader, its best node, \
                         and everybody in it follows it. Until then there may be several, and no \
                         state is handed over";
