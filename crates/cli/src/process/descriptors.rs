//! How many descriptors this process may have open, and who gets how many of them.
//!
//! A process without descriptors cannot save a group number, and a node that cannot save ends. So
//! the limit is shared out at the start: a reserve for the node itself (its files, links, hooks),
//! and for every kind of client a maximum, such that all of them together stay within the limit.
//! Left out: what other users of this process's limit do; the limit is per process.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How many of each kind of client may be connected at once. With all of them, the node still has
/// its reserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    /// Clients of the control socket that ask, or are silent.
    pub(crate) questions: usize,
    /// Clients of the control socket that watch.
    pub(crate) watchers: usize,
    /// Jobs that are attached.
    pub(crate) jobs: usize,
    /// Connections over HTTP.
    pub(crate) http: usize,
    /// Connections over HTTP beyond those, for health alone.
    pub(crate) http_reserve: usize,
    /// Connections over HTTP by the local socket.
    pub(crate) http_local: usize,
    /// Connections of agent checks.
    pub(crate) agent_check: usize,
}

impl Budget {
    /// Raises the limit as far as it is useful, and shares it out. Warns if it is too small.
    pub(crate) fn claim(peers: usize) -> Self {
        let limit = raise(peers);
        let budget = Self::of(limit, peers);
        if budget != Self::WANTED {
            let needed = needed(peers);
            tracing::warn!(
                "this process may open {limit} files and could need {needed} for {peers} peers and \
                 all clients, so fewer clients are taken: {budget}. Raise the limit to {needed}: \
                 LimitNOFILE= in the unit, or ulimit -n"
            );
        }
        budget
    }

    /// The shares of a limit.
    fn of(limit: u64, peers: usize) -> Self {
        let wanted = Self::WANTED;
        let (left, all) = (limit.saturating_sub(reserve(peers)), wanted.descriptors());
        if left >= all {
            return wanted;
        }
        let share = |count: usize| {
            let part = u64::try_from(count).unwrap_or(u64::MAX).saturating_mul(left) / all;
            // Without any the agent could not be asked why.
            usize::try_from(part).unwrap_or(count).max(LEAST)
        };
        Self {
            questions: share(wanted.questions),
            watchers: share(wanted.watchers),
            jobs: share(wanted.jobs),
            http: share(wanted.http),
            http_reserve: share(wanted.http_reserve),
            http_local: share(wanted.http_local),
            agent_check: share(wanted.agent_check),
        }
    }

    /// What all clients together have open.
    fn descriptors(&self) -> u64 {
        let Self { questions, watchers, jobs, http, http_reserve, http_local, agent_check } = *self;
        let one_each = questions + watchers + http + http_reserve + http_local + agent_check;
        u64::try_from(one_each + jobs * PER_JOB).unwrap_or(u64::MAX)
    }

    /// Without a limit in the way.
    pub(crate) const WANTED: Self = Self {
        questions: 64,
        watchers: 64,
        jobs: 32,
        http: 512,
        http_reserve: 64,
        http_local: 64,
        agent_check: 64,
    };
}

impl std::fmt::Display for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { questions, watchers, jobs, http, http_reserve, http_local, agent_check } = self;
        write!(
            f,
            "{questions} questions, {watchers} watchers, {jobs} jobs, {http} over HTTP and \
             {http_reserve} for health, {http_local} over its socket, {agent_check} agent checks"
        )
    }
}

/// Sets the limit back to what it was when this process started, for a program that is started by
/// it: some programs mistake a high limit for a reason to walk through all of it.
pub(crate) fn restore(soft: u64) {
    let limit = getrlimit(Resource::Nofile);
    // It only ever becomes smaller, which is allowed.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(soft), ..limit });
}

/// The limit when this process started, if it was raised since.
pub(crate) fn original() -> Option<u64> {
    ORIGINAL.get().copied()
}

fn raise(peers: usize) -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let (Some(soft), hard) = (limit.current, limit.maximum.unwrap_or(u64::MAX)) else {
        return u64::MAX;
    };
    let wanted = needed(peers).min(hard);
    let raised = Rlimit { current: Some(wanted), maximum: limit.maximum };
    if soft >= wanted || setrlimit(Resource::Nofile, raised).is_err() {
        return soft;
    }
    // There is one agent in a process, so it is set once.
    let _ = ORIGINAL.set(soft);
    wanted
}

/// What is enough for everything at once.
fn needed(peers: usize) -> u64 {
    reserve(peers).saturating_add(Budget::WANTED.descriptors())
}

fn reserve(peers: usize) -> u64 {
    let peers = u64::try_from(peers).unwrap_or(u64::MAX);
    OWN.saturating_add(peers.saturating_mul(PER_PEER))
}

static ORIGINAL: OnceLock<u64> = OnceLock::new();

/// The node's files, its sockets, three runtimes, the pipes of hooks, handshakes that are not done.
const OWN: u64 = 64 + 64;
/// One link, and those that it replaces: `links_per_peer_max`.
const PER_PEER: u64 = 8;
/// Both halves of its connection, and for a moment the port that is handed over.
const PER_JOB: usize = 3;
/// Of each kind, whatever the limit is.
const LEAST: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_and_the_reserve_stay_within_the_limit() {
        for (limit, peers) in [(1 << 20, 3), (4096, 100), (1024, 3), (512, 3), (256, 5)] {
            let budget = Budget::of(limit, peers);
            let used = budget.descriptors() + reserve(peers);
            assert!(used <= limit, "{limit}: {budget} use {used}");
        }
    }

    #[test]
    fn what_is_needed_is_enough_and_one_less_is_not() {
        for peers in [3, 100] {
            assert_eq!(Budget::of(needed(peers), peers), Budget::WANTED);
            assert_ne!(Budget::of(needed(peers) - 1, peers), Budget::WANTED);
        }
    }

    #[test]
    fn even_a_tiny_limit_leaves_a_place_of_each_kind() {
        let budget = Budget::of(16, 3);
        assert_eq!((budget.questions, budget.watchers, budget.jobs), (LEAST, LEAST, LEAST));
    }
}
