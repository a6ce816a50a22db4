//! The reach of a flood: the option that both ad-hoc algorithms have.

use crate::config::GroupConfig;
use crate::election::Algorithm;
use crate::membership::Membership;
use crate::options::options;

options! {
    /// How many links a flood crosses at most (E-34). A group whose nodes are further apart than
    /// that has several leaders forever (CE-W1); waits grow with it.
    ttl_limit / "ttl-limit": TtlLimit {
        /// One less than there are configured nodes: no two nodes are further apart than that.
        #[default] Nodes = "nodes",
        /// Sixty-four links.
        SixtyFour = "64" [literal],
        /// Thirty-two links.
        ThirtyTwo = "32" [literal],
        /// Sixteen links.
        Sixteen = "16" [literal],
        /// Eight links.
        Eight = "8" [literal],
        /// Four links.
        Four = "4" [literal],
        /// Two links.
        Two = "2" [literal],
        /// One link: the neighbours of the sender.
        One = "1" [literal],
    },
}

/// How many links a flood of this group crosses at most; one at least.
#[must_use]
pub fn of(config: &GroupConfig, members: &Membership) -> u32 {
    // Two algorithms flood, and both have these options.
    let options = if config.algorithm() == Algorithm::AdhocExpandingRing {
        config.options().adhoc_expanding_ring
    } else {
        config.options().adhoc_diffusing
    };
    match options.ttl_limit {
        TtlLimit::Nodes => {
            u32::try_from(members.count()).unwrap_or(u32::MAX).saturating_sub(1).max(1)
        }
        TtlLimit::SixtyFour => 64,
        TtlLimit::ThirtyTwo => 32,
        TtlLimit::Sixteen => 16,
        TtlLimit::Eight => 8,
        TtlLimit::Four => 4,
        TtlLimit::Two => 2,
        TtlLimit::One => 1,
    }
}
