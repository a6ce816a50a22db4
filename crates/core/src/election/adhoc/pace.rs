//! The waits of the ad-hoc algorithms: they grow with the number of links that a message crosses.
//!
//! ```text
//! hop      = Tm + Tp                  one link, and the node that passes it on
//! ring     = 2 ttl hop                a flood goes out, an answer comes back
//! h        = heartbeat, or the check period; at least 2T
//! silence  = 3h + limit hop           two heartbeats in a row may be lost (W-02)
//! ```

use core::time::Duration;

use super::limit;
use crate::config::GroupConfig;
use crate::dice::jitter;
use crate::protocol::Context;

fn hop(config: &GroupConfig) -> Duration {
    config.timing().message_max() + config.timing().processing_max()
}

/// How long a flood may be in flight.
fn flood(cx: &Context<'_>) -> Duration {
    hop(cx.config).saturating_mul(limit::of(cx.config, cx.members))
}

/// The ring traversal time: a flood that crosses so many links, and the answers to it.
pub(super) fn ring(config: &GroupConfig, ttl: u32) -> Duration {
    hop(config).saturating_mul(ttl.saturating_mul(2))
}

/// The period of a leader's heartbeats.
pub(super) fn period(config: &GroupConfig) -> Duration {
    let timing = config.timing();
    timing.heartbeat().unwrap_or(timing.check_every()).max(timing.answer() * 2)
}

/// How long a follower waits for a heartbeat. The random part keeps all followers from calling an
/// election at once.
pub(super) fn silence(cx: &mut Context<'_>) -> Duration {
    let missed = (period(cx.config) * 3).max(cx.config.timing().suspect_after());
    missed + flood(cx) + jitter(cx.dice, cx.config.timing().jitter())
}

/// How long copies of one heartbeat go on arriving after the first was passed on: each neighbour
/// receives that, and passes it on at once if it has not done so before.
pub(super) const fn echo(config: &GroupConfig) -> Duration {
    config.timing().answer()
}

/// How long a node waits for a better candidate of an expanding ring search: all its rings, each up
/// to twice as wide as the one before, and the announcement.
pub(super) fn rings(cx: &mut Context<'_>) -> Duration {
    flood(cx) * 8 + jitter(cx.dice, cx.config.timing().jitter())
}

/// How long a diffusing computation may take: out, back and out again, and one link that breaks.
pub(super) fn computation(cx: &mut Context<'_>) -> Duration {
    let repair = cx.config.timing().answer() * 4;
    flood(cx) * 4 + repair + jitter(cx.dice, cx.config.timing().jitter())
}
