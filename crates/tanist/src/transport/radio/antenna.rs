//! Sockets by which neighbours are reached: one for each interface.
//!
//! What is sent leaves on that interface alone, as one datagram for all nodes in reach, and is not
//! passed on by any router (its time to live is one). What is heard came in on it. Several nodes on
//! one machine may share an interface and its port. All nodes on the link receive the same; whom it
//! is from and whom it is for is said inside.
//!
//! Leaves out: interfaces that appear while a node runs.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::str::FromStr;

use rustix::io::Errno;
use rustix::net::netdevice;
use socket2::{Domain, InterfaceIndexOrAddress, Protocol, SockAddr, Socket, Type};

/// Which neighbours a node reaches: by which interfaces, and by which address of theirs.
///
/// ```
/// use tanist::radio::{Cast, Interfaces, Reach};
///
/// let reach = Reach::new(Interfaces::All, 7400).cast("ff02::7400".parse()?);
/// assert_eq!(reach.port, 7400);
/// # Ok::<(), tanist::radio::CastError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reach {
    /// The interfaces.
    pub interfaces: Interfaces,
    /// The port, the same on all nodes.
    pub port: u16,
    /// The address of a broadcast, the same on all nodes.
    pub cast: Cast,
}

impl Reach {
    /// By [`Cast::Broadcast`], on these interfaces and this port.
    #[must_use]
    pub const fn new(interfaces: Interfaces, port: u16) -> Self {
        Self { interfaces, port, cast: Cast::Broadcast }
    }

    /// By another address.
    #[must_use]
    pub const fn cast(mut self, cast: Cast) -> Self {
        self.cast = cast;
        self
    }
}

/// Interfaces of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interfaces {
    /// All that are up when the node starts, except for the loopback.
    All,
    /// These.
    Named(Vec<String>),
}

/// The address of a broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cast {
    /// By the broadcast address 255.255.255.255. Needs no address of its own on the interface.
    Broadcast,
    /// By a multicast address, such as 239.255.74.0 or `ff02::7400`.
    Multicast(IpAddr),
}

impl FromStr for Cast {
    type Err = CastError;

    fn from_str(text: &str) -> Result<Self, CastError> {
        if text == "broadcast" {
            return Ok(Self::Broadcast);
        }
        let address: Option<IpAddr> = text.parse().ok();
        let address = address.filter(IpAddr::is_multicast);
        address.map(Self::Multicast).ok_or_else(|| CastError(text.to_owned()))
    }
}

impl fmt::Display for Cast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broadcast => f.write_str("broadcast"),
            Self::Multicast(address) => write!(f, "{address}"),
        }
    }
}

/// A text that is no address of a broadcast.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is neither `broadcast` nor a multicast address, so no packet would arrive; write \
     broadcast, or for example 239.255.74.0 or ff02::7400"
)]
pub struct CastError(String);

/// The sockets of a node, one for each interface.
#[derive(Debug)]
pub struct Antennas {
    list: Vec<Antenna>,
    /// Whether some of them may be down.
    may_be_down: bool,
}

impl Antennas {
    /// Opens them. Whether an interface is up shows when something is sent.
    pub fn open(reach: &Reach) -> Result<Self, AntennaError> {
        let (names, may_be_down) = match &reach.interfaces {
            Interfaces::Named(names) => (names.clone(), false),
            Interfaces::All => (names_of_all()?, true),
        };
        let open = names.iter().map(|name| Antenna::open(name, reach));
        let list = open.collect::<Result<Vec<Antenna>, _>>()?;
        if list.is_empty() { Err(AntennaError::Nothing) } else { Ok(Self { list, may_be_down }) }
    }

    /// Says the first thing on each; gives those that are up.
    pub(super) fn greet(self, greeting: &[u8]) -> Result<Vec<Antenna>, AntennaError> {
        let mut up = Vec::new();
        for antenna in self.list {
            match antenna.greet(greeting) {
                Ok(()) => up.push(antenna),
                Err(AntennaError::Down { interface, .. }) if self.may_be_down => {
                    tracing::info!(interface, "this interface is down and is not used");
                }
                Err(error) => return Err(error),
            }
        }
        if up.is_empty() { Err(AntennaError::Nothing) } else { Ok(up) }
    }
}

/// The socket of one interface.
#[derive(Debug)]
pub(super) struct Antenna {
    pub(super) interface: String,
    pub(super) socket: UdpSocket,
    everybody: SocketAddr,
}

impl Antenna {
    fn open(interface: &str, reach: &Reach) -> Result<Self, AntennaError> {
        let (socket, everybody) = prepare(interface, reach).map_err(|source| {
            let name = interface.to_owned();
            match source.raw_os_error().map(Errno::from_raw_os_error) {
                Some(Errno::ADDRINUSE) => AntennaError::Port { interface: name, port: reach.port },
                Some(_) | None => AntennaError::of(name, source),
            }
        })?;
        Ok(Self { interface: interface.to_owned(), socket: socket.into(), everybody })
    }

    fn greet(&self, greeting: &[u8]) -> Result<(), AntennaError> {
        match self.send(greeting) {
            Ok(_) => Ok(()),
            // An address that is being made, or no room: later packets find the way.
            Err(source) if is_passing(&source) => Ok(()),
            Err(source) => Err(AntennaError::of(self.interface.clone(), source)),
        }
    }

    /// Sends a packet to all nodes in reach of this interface. Never waits.
    pub(super) fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.send_to(bytes, self.everybody)
    }
}

fn prepare(interface: &str, reach: &Reach) -> io::Result<(Socket, SocketAddr)> {
    let domain = match reach.cast {
        Cast::Multicast(IpAddr::V6(_)) => Domain::IPV6,
        Cast::Multicast(IpAddr::V4(_)) | Cast::Broadcast => Domain::IPV4,
    };
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
    let index = netdevice::name_to_index(&socket, interface)?;
    socket.set_nonblocking(true)?;
    // Other nodes on this machine hear the same; two that have the same id notice each other.
    socket.set_reuse_address(true)?;
    socket.bind_device(Some(interface.as_bytes()))?;
    match reach.cast {
        Cast::Broadcast => {
            socket.set_broadcast(true)?;
            socket.set_ttl_v4(TTL)?;
            let here = SocketAddr::from((Ipv4Addr::UNSPECIFIED, reach.port));
            socket.bind(&SockAddr::from(here))?;
            Ok((socket, SocketAddr::from((Ipv4Addr::BROADCAST, reach.port))))
        }
        Cast::Multicast(IpAddr::V4(group)) => {
            let everybody = SocketAddr::from((group, reach.port));
            socket.bind(&SockAddr::from(everybody))?;
            socket.join_multicast_v4_n(&group, &InterfaceIndexOrAddress::Index(index))?;
            socket.set_multicast_ttl_v4(TTL)?;
            socket.set_multicast_loop_v4(true)?;
            Ok((socket, everybody))
        }
        Cast::Multicast(IpAddr::V6(group)) => {
            let everybody = SocketAddrV6::new(group, reach.port, 0, index);
            socket.set_only_v6(true)?;
            socket.bind(&SockAddr::from(everybody))?;
            join_v6(&socket, &group, index)?;
            Ok((socket, everybody.into()))
        }
    }
}

fn join_v6(socket: &Socket, group: &Ipv6Addr, index: u32) -> io::Result<()> {
    socket.join_multicast_v6(group, index)?;
    socket.set_multicast_if_v6(index)?;
    socket.set_multicast_hops_v6(TTL)?;
    socket.set_multicast_loop_v6(true)
}

/// The interfaces of this machine, without the loopback.
fn names_of_all() -> Result<Vec<String>, AntennaError> {
    let text = std::fs::read_to_string(DEVICES).map_err(AntennaError::List)?;
    let names = text.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim());
    Ok(names.filter(|name| *name != "lo").map(str::to_owned).collect())
}

fn is_passing(error: &io::Error) -> bool {
    let known = [Errno::ADDRNOTAVAIL, Errno::WOULDBLOCK, Errno::NOBUFS];
    error.raw_os_error().is_some_and(|raw| known.contains(&Errno::from_raw_os_error(raw)))
}

/// Why a node cannot reach its neighbours.
#[derive(Debug, thiserror::Error)]
pub enum AntennaError {
    /// There is no such interface.
    #[error(
        "there is no interface `{interface}`, so the node does not start; `ip link` lists those \
         that there are"
    )]
    Missing {
        /// Its name.
        interface: String,
    },
    /// It is switched off.
    #[error(
        "the interface {interface} is down or has no way out ({source}), so the node does not \
         start; bring it up with `ip link set {interface} up`"
    )]
    Down {
        /// Its name.
        interface: String,
        /// What the system said.
        source: io::Error,
    },
    /// Another process has the port to itself.
    #[error(
        "UDP port {port} on {interface} is in use by a process that does not share it, so the node \
         does not start; stop that process (ss -lunp shows it), or choose another port on all nodes"
    )]
    Port {
        /// The interface.
        interface: String,
        /// The port.
        port: u16,
    },
    /// The user of this process may not do that.
    #[error(
        "the system does not let this user broadcast on {interface} ({source}), so the \
         node does not start; check the firewall and the unit's restrictions, or give the process \
         CAP_NET_RAW"
    )]
    Permission {
        /// The interface.
        interface: String,
        /// What the system said.
        source: io::Error,
    },
    /// Anything else.
    #[error(
        "cannot use the interface {interface} ({source}), so the node does not start; check that \
         it carries the kind of address that `group` names"
    )]
    Socket {
        /// The interface.
        interface: String,
        /// What the system said.
        source: io::Error,
    },
    /// The system does not say which interfaces there are.
    #[error(
        "cannot list the interfaces of this machine ({DEVICES}: {0}), so the node does not start; \
         name them"
    )]
    List(io::Error),
    /// None at all.
    #[error(
        "no interface is up, so no packet would be sent and the node does not start; name one, or \
         bring one up with `ip link set … up`"
    )]
    Nothing,
}

impl AntennaError {
    fn of(interface: String, source: io::Error) -> Self {
        match source.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NODEV | Errno::NXIO) => Self::Missing { interface },
            Some(Errno::PERM | Errno::ACCESS) => Self::Permission { interface, source },
            Some(Errno::NETDOWN | Errno::NETUNREACH | Errno::HOSTUNREACH) => {
                Self::Down { interface, source }
            }
            Some(_) | None => Self::Socket { interface, source },
        }
    }
}

/// No router passes it on: neighbours only.
const TTL: u32 = 1;
const DEVICES: &str = "/proc/self/net/dev";

#[cfg(test)]
mod tests {
    use super::*;

    fn open(interface: &str, port: u16, cast: &str) -> Result<Antennas, AntennaError> {
        let interfaces = Interfaces::Named(vec![interface.to_owned()]);
        let reach = Reach { interfaces, port, cast: cast.parse().unwrap() };
        Antennas::open(&reach)
    }

    #[test]
    fn a_text_says_who_is_addressed() {
        assert_eq!("broadcast".parse(), Ok(Cast::Broadcast));
        for text in ["239.255.74.0", "ff02::7400"] {
            let cast: Cast = text.parse().unwrap();
            assert_eq!(cast.to_string(), text);
        }
        for wrong in ["", "all", "10.0.0.1", "::1", "239.255.74.0:7400"] {
            assert!(wrong.parse::<Cast>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let text = open("no-such-if", 7400, "broadcast").unwrap_err().to_string();
        assert!(text.contains("`no-such-if`") && text.contains("ip link"), "{text}");
        let long = open("a-name-that-no-interface-can-have", 7400, "239.255.74.0");
        assert!(long.is_err());
    }

    #[test]
    fn a_port_that_somebody_has_for_himself_is_named() {
        let other = UdpSocket::bind("0.0.0.0:0").unwrap();
        let port = other.local_addr().unwrap().port();
        let text = open("lo", port, "239.255.74.0").unwrap_err().to_string();
        assert!(text.contains(&port.to_string()) && text.contains("ss -lunp"), "{text}");
    }

    #[test]
    fn nobody_at_all_is_an_error() {
        let reach =
            Reach { interfaces: Interfaces::Named(Vec::new()), port: 1, cast: Cast::Broadcast };
        assert!(matches!(Antennas::open(&reach), Err(AntennaError::Nothing)));
    }

    #[test]
    fn all_interfaces_are_listed_without_the_loopback() {
        let names = names_of_all().unwrap();
        assert!(!names.iter().any(|name| name == "lo" || name.contains('|')), "{names:?}");
    }
}
