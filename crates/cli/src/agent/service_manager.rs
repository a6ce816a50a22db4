//! What a service manager is told: systemd's notification protocol, as `sd_notify(3)` describes it.
//!
//! A datagram of `NAME=value` lines for each piece of news. Nothing is told, and nothing is an
//! error, without NOTIFY_SOCKET. A watchdog is fed only when the election's own loop has
//! answered: a node that hangs is restarted.

use std::env;
use std::future::Future;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tanist::RoleKind;
use tokio::time::timeout;

use crate::agent::Agent;
use crate::agent::change::RoleChange;

/// The service manager that started this process. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manager {
    to: Option<Arc<(UnixDatagram, SocketAddr)>>,
    watchdog: Option<Duration>,
}

impl Manager {
    /// The one that the environment names, if it names one.
    pub(crate) fn from_environment() -> Self {
        let Some(name) = env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty()) else {
            return Self::default();
        };
        let found = address(name.as_bytes()).and_then(|address| Ok(Arc::new((socket()?, address))));
        let to = match found {
            Ok(to) => Some(to),
            Err(error) => {
                tracing::warn!(%error, "NOTIFY_SOCKET cannot be used; nothing is reported");
                None
            }
        };
        let text = |name| env::var(name).ok();
        let id = std::process::id();
        let watchdog =
            watchdog(text("WATCHDOG_USEC").as_deref(), text("WATCHDOG_PID").as_deref(), id);
        Self { to, watchdog }
    }

    /// The node is up.
    pub(crate) fn ready(&self) {
        self.tell("READY=1");
    }

    /// The file is read again; [`Manager::ready`] says that it was.
    pub(crate) fn reloading(&self) {
        let now = clock_gettime(ClockId::Monotonic);
        let micros = now.tv_sec * 1_000_000 + now.tv_nsec / 1000;
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={micros}"));
    }

    /// The node ends.
    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1");
    }

    fn tell(&self, text: &str) {
        let Some(to) = &self.to else { return };
        let (socket, address) = &**to;
        if let Err(error) = socket.send_to_addr(text.as_bytes(), address) {
            tracing::debug!(%error, "the service manager does not listen");
        }
    }
}

/// Tells every change, and feeds the watchdog, until the task is dropped or the node has stopped.
pub(crate) async fn report(manager: Manager, agent: Agent) {
    let period = manager.watchdog;
    let feeding = async {
        match period {
            Some(period) => loop {
                tokio::time::sleep(period).await;
                if has_answered(agent.group().metrics(), period).await {
                    manager.tell("WATCHDOG=1");
                }
            },
            None => std::future::pending().await,
        }
    };
    let telling = async {
        let mut seen = None;
        while let Some(later) = agent.history().after(seen).await {
            // If several changes wait, only the newest is told.
            if let Some(change) = later.changes.last() {
                let group = &agent.config().group;
                let called = change.called(agent.group().names());
                manager.tell(&format!("STATUS={}", sentence(group, &called)));
                seen = Some(change.index);
            }
        }
    };
    tokio::select! {
        () = telling => {}
        () = feeding => {}
    }
}

/// Whether the election's loop answers in time.
async fn has_answered<T>(answer: impl Future<Output = Option<T>>, limit: Duration) -> bool {
    match timeout(limit, answer).await {
        Ok(answer) => answer.is_some(),
        Err(_) => {
            tracing::error!(?limit, "the election's loop does not answer: no sign of life is sent");
            false
        }
    }
}

/// `leader of billing, group number 42.n3, 3 members`.
fn sentence(group: &str, change: &RoleChange<String>) -> String {
    let number = change.group_number.map_or_else(|| "none".to_owned(), |number| number.to_string());
    let members = match change.members.len() {
        1 => "1 member".to_owned(),
        members => format!("{members} members"),
    };
    match (change.role, &change.coordinator) {
        (RoleKind::Leader, _) => format!("leader of {group}, group number {number}, {members}"),
        (RoleKind::Member, Some(leader)) => {
            format!("member of {group} under {leader}, group number {number}, {members}")
        }
        (RoleKind::Member | RoleKind::Suspended, _) => {
            format!("in no group of {group} ({}), last group number {number}", change.reason.name())
        }
    }
}

/// One that waits for a manager that does not read, but not for long.
fn socket() -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    socket.set_write_timeout(Some(TELL_MAX))?;
    Ok(socket)
}

/// A path, or a name in the abstract namespace, which begins with `@`.
fn address(name: &[u8]) -> io::Result<SocketAddr> {
    match name {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name),
        [b'/', ..] => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(name)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "neither a path nor @name")),
    }
}

/// How often a sign of life is due: twice in the time that the manager waits, if it waits for this
/// process.
fn watchdog(micros: Option<&str>, process: Option<&str>, me: u32) -> Option<Duration> {
    let is_mine = process.is_none_or(|process| process.parse() == Ok(me));
    let micros: u64 = micros?.parse().ok().filter(|micros| *micros > 0)?;
    is_mine.then(|| Duration::from_micros(micros) / 2)
}

const TELL_MAX: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use tanist::{GroupNumber, NodeId, NodeNames};
    use tanist_core::Time;

    use super::*;
    use crate::agent::change::Reason;

    #[tokio::test]
    async fn a_loop_that_does_not_answer_or_has_ended_gives_no_sign_of_life() {
        let limit = Duration::from_millis(5);
        assert!(has_answered(async { Some(()) }, limit).await);
        assert!(!has_answered(std::future::pending::<Option<()>>(), limit).await);
        assert!(!has_answered(async { None::<()> }, limit).await);
    }

    #[test]
    fn signs_of_life_are_due_twice_in_the_time_and_only_from_the_process_that_is_meant() {
        let half = Some(Duration::from_secs(5));
        assert_eq!(watchdog(Some("10000000"), None, 7), half);
        assert_eq!(watchdog(Some("10000000"), Some("7"), 7), half);
        assert_eq!(watchdog(Some("10000000"), Some("8"), 7), None);
        assert_eq!(watchdog(Some("0"), None, 7), None);
        assert_eq!(watchdog(Some("soon"), None, 7), None);
        assert_eq!(watchdog(None, None, 7), None);
    }

    #[test]
    fn a_manager_in_the_abstract_namespace_is_reached() {
        let name = format!("tanist-test-{}", std::process::id());
        let here = SocketAddr::from_abstract_name(&name).unwrap();
        let manager = UnixDatagram::bind_addr(&here).unwrap();
        let to = address(format!("@{name}").as_bytes()).unwrap();
        let told =
            Manager { to: Some(Arc::new((UnixDatagram::unbound().unwrap(), to))), watchdog: None };
        told.ready();
        let mut text = [0; 64];
        let length = manager.recv(&mut text).unwrap();
        assert_eq!(&text[..length], b"READY=1");
        assert!(address(b"relative").is_err());
    }

    #[test]
    fn a_status_is_a_sentence() {
        let mut change = RoleChange {
            index: 0,
            role: RoleKind::Leader,
            group_number: Some(GroupNumber { counter: 42, node: NodeId(3) }),
            coordinator: Some(NodeId(3)),
            members: [1, 2, 3].map(NodeId).into_iter().collect(),
            reason: Reason::Failure,
            old_leader: None,
            gap: None,
            ..RoleChange::start(NodeId(3), Time::ZERO, SystemTime::UNIX_EPOCH)
        };
        assert_eq!(
            sentence("billing", &change.called(&NodeNames::default())),
            "leader of billing, group number 42.n3, 3 members"
        );
        change.role = RoleKind::Member;
        assert_eq!(
            sentence("billing", &change.called(&NodeNames::default())),
            "member of billing under n3, group number 42.n3, 3 members"
        );
        change.role = RoleKind::Suspended;
        assert_eq!(
            sentence("billing", &change.called(&NodeNames::default())),
            "in no group of billing (failure), last group number 42.n3"
        );
    }
}
