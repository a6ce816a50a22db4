//! A peer that has the key and does as it likes: plain blocking sockets and the pure parts.

use std::cell::RefCell;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

use tanist::key::GroupKey;
use tanist::transport::frame::Record;
use tanist::transport::handshake::{Answer, Dialler, Hello, Listener, VERSION};
use tanist::transport::session::Session;
use tanist_core::members::NodeId;

use super::node::{PATIENCE, until};

/// A link as seen by the rogue.
pub(crate) struct Rogue {
    pub(crate) stream: TcpStream,
    pub(crate) session: Session,
    sealed: u64,
    opened: u64,
}

pub(crate) fn hello(from: u32, to: u32) -> Hello {
    Hello {
        version: VERSION,
        group: "jobs".to_owned(),
        from: NodeId(from),
        to: NodeId(to),
        incarnation: 666,
        dial: 1,
        lost: None,
    }
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// The next connection; a failure if none comes.
pub(crate) fn accept(listener: &TcpListener) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    let accepted = RefCell::new(None);
    until("a connection", || {
        let (stream, _) = listener.accept().map_err(|error| error.to_string())?;
        accepted.replace(Some(stream));
        Ok(())
    });
    let stream = accepted.into_inner().unwrap();
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

impl Rogue {
    /// Dials as far as message 2.
    pub(crate) fn greet(address: SocketAddr, key: &GroupKey, hello: &Hello) -> (Answer, Self) {
        let mut stream = connect(address);
        let (dialler, message) = Dialler::begin(key, hello).unwrap();
        write_message(&mut stream, &message);
        let message = read_message(&mut stream).expect("an answer");
        let (answer, session) = dialler.finish(&message).unwrap();
        (answer, Self { stream, session, sealed: 0, opened: 0 })
    }

    /// Dials, and confirms.
    pub(crate) fn dial(address: SocketAddr, key: &GroupKey, hello: &Hello) -> Self {
        let (answer, mut rogue) = Self::greet(address, key, hello);
        assert!(matches!(answer, Answer::Welcome { .. }), "{answer:?}");
        rogue.write(&Record::Opening { after: None }.encode());
        rogue
    }

    /// Accepts a link as this node.
    pub(crate) fn accept(listener: &TcpListener, key: &GroupKey, me: u32) -> Self {
        let mut stream = accept(listener);
        let message = read_message(&mut stream).expect("a hello");
        let (handshake, _) = Listener::hear(key, &message).unwrap();
        let welcome = Answer::Welcome { from: NodeId(me), incarnation: 666 };
        let (message, session) = handshake.answer(welcome).unwrap();
        write_message(&mut stream, &message);
        let mut rogue = Self { stream, session, sealed: 0, opened: 0 };
        rogue.read().expect("a confirmation");
        rogue
    }

    /// Seals these bytes as the next record and sends them.
    pub(crate) fn write(&mut self, plaintext: &[u8]) {
        let mut sealed = Vec::new();
        self.session.seal_record(self.sealed, plaintext, &mut sealed).unwrap();
        self.sealed += 1;
        write_message(&mut self.stream, &sealed);
    }

    /// The next record, opened; nothing at the end of the link.
    pub(crate) fn read(&mut self) -> Option<Vec<u8>> {
        let sealed = read_message(&mut self.stream)?;
        let mut plaintext = Vec::new();
        self.session.open_record(self.opened, &sealed, &mut plaintext).unwrap();
        self.opened += 1;
        Some(plaintext)
    }
}

pub(crate) fn write_message(stream: &mut TcpStream, message: &[u8]) {
    let length = u16::try_from(message.len()).unwrap();
    stream.write_all(&[&length.to_be_bytes()[..], message].concat()).unwrap();
}

pub(crate) fn read_message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut length = [0; 2];
    stream.read_exact(&mut length).ok()?;
    let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut message).ok()?;
    Some(message)
}

/// Waits for the other side to close.
pub(crate) fn expect_closed(stream: &mut TcpStream) {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}"),
    }
}
