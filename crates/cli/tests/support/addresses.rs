//! Addresses for tests: every fleet has a loopback host of its own, with fixed ports.
//!
//! Linux listens at every address of 127.0.0.0/8 without any setup. A host is claimed by listening
//! at one of its ports for as long as the fleet exists, so two fleets never share a host, not even
//! those of two test programs that run at the same time. No test has to look for free ports.
//! The tests of the crate `tanist` include this file, too.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

/// A loopback address that only one fleet uses.
pub(crate) struct Host {
    address: Ipv4Addr,
    /// Added to every port.
    offset: u16,
    _claim: TcpListener,
}

impl Host {
    pub(crate) fn claim() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Programs that run at the same time begin at different hosts.
        let first = std::process::id().wrapping_mul(TRIES);
        let address = || {
            let [_, a, b, c] =
                first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)).to_be_bytes();
            // 127.0.0.0/16 has localhost in it, which other programs use.
            Ipv4Addr::new(127, a.max(1), b, c)
        };
        // Networks and broadcasts are left out, not changed: a node of a fleet that has ended may
        // still listen at its host, so no host is used twice.
        let is_host = |address: &Ipv4Addr| (1..255).contains(&address.octets()[3]);
        let mut hosts = std::iter::repeat_with(address).filter(is_host).take(TRIES as usize);
        let host = hosts.find_map(|address| Self::at(address, 0));
        host.expect("one of a thousand hosts is not claimed")
    }

    /// The host that is called localhost; none while another fleet has it. Its ports differ from
    /// those of all other hosts, so that one of its agents may also listen at 0.0.0.0.
    #[allow(dead_code, reason = "only tests of agents need names")]
    pub(crate) fn localhost() -> Option<Self> {
        Self::at(Ipv4Addr::LOCALHOST, 10_000)
    }

    fn at(address: Ipv4Addr, offset: u16) -> Option<Self> {
        let claim = TcpListener::bind((address, CLAIM)).ok()?;
        Some(Self { address, offset, _claim: claim })
    }

    pub(crate) fn port(&self, port: u16) -> SocketAddr {
        SocketAddr::from((self.address, port + self.offset))
    }
}

/// Fleets of one test program rarely need so many hosts.
const TRIES: u32 = 1000;
/// The port whose listener is the claim; no agent of a test listens there.
const CLAIM: u16 = 7399;
