//! The sockets of a node: one port for links and for datagrams.
//!
//! They are bound before anything else starts, so that a port that is taken is an early and clear
//! error. All of them are closed on exec (std sees to it): a hook that outlives its node must not
//! hold the node's port or keep its links alive.

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _, UdpSocket};

use socket2::{SockRef, TcpKeepalive};

use super::limits::Limits;

/// A bound port, for TCP and UDP.
#[derive(Debug)]
pub struct Sockets {
    pub(super) tcp: TcpListener,
    pub(super) udp: UdpSocket,
    address: SocketAddr,
}

impl Sockets {
    /// Binds `host:port`. Port 0 lets the system choose one that is free for both.
    pub fn bind(listen: &str) -> Result<Self, BindError> {
        let failed = |source| BindError::Address { listen: listen.to_owned(), source };
        let mut addresses = listen.to_socket_addrs().map_err(failed)?;
        let address = addresses.next().ok_or_else(|| {
            failed(io::Error::new(io::ErrorKind::NotFound, "the name has no address"))
        })?;
        let mut attempt = 1;
        loop {
            match Self::bind_both(address) {
                // A port that the system chose for TCP may be taken for UDP.
                Err(BindError::Udp { .. }) if address.port() == 0 && attempt < ATTEMPTS => {
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    fn bind_both(address: SocketAddr) -> Result<Self, BindError> {
        let in_tcp = |source| BindError::Tcp { address, source };
        let tcp = TcpListener::bind(address).map_err(in_tcp)?;
        tcp.set_nonblocking(true).map_err(in_tcp)?;
        let address = tcp.local_addr().map_err(in_tcp)?;
        let in_udp = |source| BindError::Udp { address, source };
        let udp = UdpSocket::bind(address).map_err(in_udp)?;
        udp.set_nonblocking(true).map_err(in_udp)?;
        Ok(Self { tcp, udp, address })
    }

    /// Where this node listens, with the port that the system chose.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Why a node has no port.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The text is not an address of this machine.
    #[error(
        "`{listen}` is not an address to listen on ({source}), so the node does not start; write \
         host:port, for example 0.0.0.0:7400"
    )]
    Address {
        /// What was given.
        listen: String,
        /// What the system said.
        source: io::Error,
    },
    /// The port cannot be had for links.
    #[error(
        "cannot listen on TCP {address} ({source}), so the node does not start; stop the process \
         that holds the port (ss -ltnp shows it), or choose another port"
    )]
    Tcp {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The port cannot be had for datagrams.
    #[error(
        "cannot receive on UDP {address} ({source}), so the node does not start; stop the process \
         that holds the port (ss -lunp shows it), or choose another port"
    )]
    Udp {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
}

/// Sets what every link needs: no waiting for more to send, and an end of waiting for a machine
/// that is gone.
pub(super) fn tune(stream: &tokio::net::TcpStream, limits: &Limits) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    let keepalive = TcpKeepalive::new()
        .with_time(limits.keepalive_idle)
        .with_interval(limits.keepalive_interval);
    socket.set_tcp_keepalive(&keepalive)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(limits.unacknowledged))?;
    Ok(())
}

const ATTEMPTS: u32 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sockets_have_the_port_that_the_system_chose() {
        let sockets = Sockets::bind("127.0.0.1:0").unwrap();
        assert_ne!(sockets.address().port(), 0);
        assert_eq!(sockets.udp.local_addr().unwrap(), sockets.tcp.local_addr().unwrap());
    }

    #[test]
    fn a_taken_port_is_an_error_that_names_it() {
        let first = Sockets::bind("127.0.0.1:0").unwrap();
        let listen = first.address().to_string();
        let text = Sockets::bind(&listen).unwrap_err().to_string();
        assert!(text.contains(&listen), "{text}");
        let datagrams_only = UdpSocket::bind("127.0.0.1:0").unwrap();
        let listen = datagrams_only.local_addr().unwrap().to_string();
        let taken = Sockets::bind(&listen);
        assert!(matches!(taken, Err(BindError::Udp { .. })), "{taken:?}");
    }

    #[tokio::test]
    async fn links_are_prompt_and_notice_a_machine_that_is_gone() {
        let sockets = Sockets::bind("127.0.0.1:0").unwrap();
        let stream = tokio::net::TcpStream::connect(sockets.address()).await.unwrap();
        let limits = Limits::default();
        tune(&stream, &limits).unwrap();
        let socket = SockRef::from(&stream);
        assert!(stream.nodelay().unwrap());
        assert!(socket.keepalive().unwrap());
        assert_eq!(socket.tcp_keepalive_time().unwrap(), limits.keepalive_idle);
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(limits.unacknowledged));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let refused = Sockets::bind("seven");
        assert!(matches!(refused, Err(BindError::Address { .. })), "{refused:?}");
    }
}
