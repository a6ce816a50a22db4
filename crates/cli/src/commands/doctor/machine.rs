//! The machine that an agent runs on: its key, its disk, its port, its clock.

use std::io::{ErrorKind, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};
use tanist::key::{Keyring, ReadKeyError};
use tanist::private_file::PrivateFileError;
use tanist::radio::Reach;
use tanist::transport::radio::Antennas;

use super::finding::Findings;
use crate::agent::report::SettingsReport;
use crate::agent::secrets::describe;
use crate::config::Config;
use crate::terminal::moment;

/// Looks at what the settings name.
pub(super) fn look(settings: &SettingsReport, findings: &mut Findings) {
    key(&settings.key_file, findings);
    disk(settings, findings);
}

/// The settings of an agent that does not run.
pub(super) fn settings(config: &Config) -> SettingsReport {
    let timing = config.timing.config();
    let millis = |span: Duration| span.as_secs_f64() * 1000.0;
    SettingsReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        process: 0,
        data_dir: config.data_dir.clone(),
        key_file: config.key_file.clone(),
        listen: listen(config),
        message_max_ms: millis(timing.message_max),
        processing_max_ms: millis(timing.processing_max),
        heartbeat_ms: timing.heartbeat.map(millis),
        suspect_after_ms: timing.suspect_after.map(millis),
        files_max: getrlimit(Resource::Nofile).current,
        log_lines_dropped: 0,
        stdout_lines_dropped: 0,
        waits_for: None,
        peers: Vec::new(),
    }
}

fn listen(config: &Config) -> String {
    if let Some(reach) = &config.radio {
        return format!("{}, UDP port {}", reach.cast, reach.port);
    }
    let own = config.peers.address(config.me).unwrap_or_default().to_owned();
    config.listen.map_or(own, |address| address.to_string())
}

fn key(path: &Path, findings: &mut Findings) {
    match Keyring::read(path) {
        Ok(ring) => {
            let keys = describe(&ring);
            let shown = path.display();
            findings.well("key", format!("{shown}: keys: {keys}; only its owner can read it."));
        }
        // Root looks on behalf of the agent's user, to whom the key may belong.
        Err(ReadKeyError::Private(PrivateFileError::Owner { owner, user: 0, .. })) => {
            let what = format!("{} belongs to user {owner}.", path.display());
            findings.note("key", what, "nothing, if the agent runs as that user; else chown");
        }
        Err(error) => {
            let fix = "make one with tanist keygen, copy it to all nodes, chmod 600";
            findings.problem("key", format!("{error}."), fix);
        }
    }
}

/// Whether it can be written, how long that takes, and how much room there is. Every group number
/// is on disk before it is told, so a slow disk is a slow node.
fn disk(settings: &SettingsReport, findings: &mut Findings) {
    let path = &settings.data_dir;
    let shown = path.display();
    if !path.is_dir() {
        let what = format!("{shown} does not exist yet; the first start makes it.");
        findings.note("disk", what, "nothing, if this node never ran; else find its data_dir");
        return;
    }
    match sync_time(path) {
        Ok(took) => {
            let share = 100.0 * took.as_secs_f64() * 1000.0 / settings.processing_max_ms;
            let what = format!(
                "{shown}: a synced write takes {}; processing_max is {}: {share:.0} % of it.",
                moment::span(took),
                moment::millis(settings.processing_max_ms),
            );
            let fix = "use a faster disk, or raise timing.processing_max";
            match share {
                ..50.0 => findings.well("disk", what),
                50.0..100.0 => findings.warn("disk", what, fix),
                _ => findings.problem("disk", what, fix),
            }
        }
        Err(error) => {
            let what = format!("{shown} cannot be written: {error}.");
            findings.problem("disk", what, "free some space, or give it to the agent's user");
        }
    }
    let Ok(room) = rustix::fs::statvfs(path) else { return };
    let free = room.f_bavail.saturating_mul(room.f_frsize);
    let what = format!("{shown}: {} free.", size(free));
    match free {
        0..ROOM_LEAST => findings.problem("disk", what, "free some space: no election without it"),
        ROOM_LEAST..ROOM_GOOD => findings.warn("disk", what, "free some space"),
        _ => findings.well("disk", what),
    }
}

/// `812 KiB`, `11.8 GiB`.
fn size(bytes: u64) -> String {
    for (unit, size) in [("TiB", 1_u64 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20)] {
        if bytes >= size {
            let size = u128::from(size);
            let tenths = (u128::from(bytes) * 10 + size / 2) / size;
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
    }
    format!("{} KiB", bytes / 1024)
}

fn sync_time(directory: &Path) -> std::io::Result<Duration> {
    let mut file = tempfile::tempfile_in(directory)?;
    let begun = Instant::now();
    file.write_all(&[0; 512])?;
    file.sync_all()?;
    Ok(begun.elapsed())
}

/// The port of an agent that does not run, and the peers that it would dial.
pub(super) fn ports(config: &Config, findings: &mut Findings) {
    if let Some(reach) = &config.radio {
        return interfaces(reach, findings);
    }
    let address = listen(config);
    let bound = TcpListener::bind(&address).and_then(|_| UdpSocket::bind(&address));
    match bound {
        Ok(_) => findings.well("port", format!("{address} is free.")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            let what = format!("{address} is in use.");
            findings.problem(
                "port",
                what,
                "see which process has it: ss -ltnup; stop it, or choose another port",
            );
        }
        Err(error) => {
            let what = format!("{address} cannot be listened on: {error}.");
            let fix = "give an address of this machine in `listen`, and one of 1024 or above";
            findings.problem("port", what, fix);
        }
    }
    for peer in config.peers.all().iter().filter(|peer| peer.id != config.me) {
        let node = config.peers.names().of(peer.id).to_string();
        dial(&node, &peer.address, findings);
    }
}

/// The interfaces of an agent that does not run.
fn interfaces(reach: &Reach, findings: &mut Findings) {
    match Antennas::open(reach) {
        Ok(_) => {
            let what = format!("{} on UDP port {} is available.", reach.cast, reach.port);
            findings.well("port", what);
        }
        Err(error) => findings.problem("port", format!("{error}."), "correct [radio]"),
    }
}

/// Whether a connection to an address is taken.
pub(super) fn is_somebody_at(address: &str) -> bool {
    let found = address.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.is_some_and(|found| TcpStream::connect_timeout(&found, DIAL_MAX).is_ok())
}

fn dial(node: &str, address: &str, findings: &mut Findings) {
    let found = address.to_socket_addrs().map(|mut found| found.next());
    let Ok(Some(found)) = found else {
        let what = format!("{node}: the name {address} does not resolve.");
        findings.problem("peers", what, "correct the name, or enter it in DNS or /etc/hosts");
        return;
    };
    match TcpStream::connect_timeout(&found, DIAL_MAX) {
        Ok(_) => findings.well("peers", format!("{node}: a process listens at {address}.")),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            let what = format!("{node}: no process listens at {address}.");
            findings.warn("peers", what, "start its agent, or correct its address in `peers`");
        }
        Err(error) => {
            let what = format!("{node}: {address} cannot be reached: {error}.");
            let fix = "check the machine, the route and firewalls, for TCP and UDP";
            findings.warn("peers", what, fix);
        }
    }
}

/// Deadlines are read off the boot-time clock, which runs on while the machine sleeps.
pub(super) fn clock(findings: &mut Findings) {
    let read = |clock| {
        let time = clock_gettime(clock);
        Duration::new(
            u64::try_from(time.tv_sec).unwrap_or(0),
            u32::try_from(time.tv_nsec).unwrap_or(0),
        )
    };
    let (running, boot) = (read(ClockId::Monotonic), read(ClockId::Boottime));
    let asleep = boot.saturating_sub(running);
    let wall = "Jumps of the wall clock do not matter: no deadline depends on it.";
    if asleep > SLEEP_MAX {
        let what = format!(
            "The machine was suspended for {} of the {} since it booted; its node was silent then. {wall}",
            moment::span(asleep),
            moment::span(boot),
        );
        findings.note("clock", what, "keep a machine awake whose node should lead");
    } else {
        let since = moment::span(boot);
        findings
            .well("clock", format!("The machine was not suspended in the last {since}. {wall}"));
    }
}

const DIAL_MAX: Duration = Duration::from_secs(1);
/// Reading two clocks one after the other takes a moment too.
const SLEEP_MAX: Duration = Duration::from_secs(1);
/// The store's files, twice.
const ROOM_LEAST: u64 = 64 << 10;
/// Room for logs that others write there.
const ROOM_GOOD: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_unit_that_suits_them() {
        assert_eq!(size(12_341_308 * 1024), "11.8 GiB");
        assert_eq!(size(831_488), "812 KiB");
        assert_eq!(size(1 << 20), "1.0 MiB");
        assert_eq!(size(3 << 40), "3.0 TiB");
        assert_eq!(size(0), "0 KiB");
    }
}
