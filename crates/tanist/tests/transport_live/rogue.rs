//! A peer that has the key and breaks the protocol: plain blocking sockets and the pure parts.

use std::cell::RefCell;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

use tanist::key::{GroupKey, Keyring, NodeKey, PublicKey};
use tanist::transport::frame::Record;
use tanist::transport::greeting::Greeting;
use tanist::transport::handshake::{Answer, Confirming, Dialler, Hello, Listener};
use tanist::transport::session::{Session, SessionId};
use tanist::transport::version::Versions;
use tanist_core::membership::NodeId;

use super::node::{PATIENCE, settings, until};

/// A link as seen by the rogue.
pub(crate) struct Rogue {
    pub(crate) stream: TcpStream,
    pub(crate) session: Session,
    sealed: u64,
    opened: u64,
}

pub(crate) fn hello(from: u32, to: u32) -> Hello {
    Hello {
        versions: Versions::RELEASED,
        group: "jobs".to_owned(),
        from: NodeId(from),
        to: NodeId(to),
        incarnation: 666,
        dial: 1,
        lost: None,
        identity: PublicKey([0; 32]),
        settings: settings(),
        introduction: None,
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
    /// Dials as far as message 2, and stays there.
    pub(crate) fn ask(address: SocketAddr, key: &GroupKey, hello: &Hello) -> Asked {
        Self::ask_as(address, key, &NodeKey::generate().unwrap(), hello)
    }

    /// The same with a key pair of one's own.
    pub(crate) fn ask_as(
        address: SocketAddr,
        key: &GroupKey,
        own: &NodeKey,
        hello: &Hello,
    ) -> Asked {
        let hello = Hello { identity: own.public(), ..hello.clone() };
        Self::ask_claiming(address, key, own, &hello)
    }

    /// The same with a hello that may name another key.
    pub(crate) fn ask_claiming(
        address: SocketAddr,
        key: &GroupKey,
        own: &NodeKey,
        hello: &Hello,
    ) -> Asked {
        let mut stream = connect(address);
        let greeting = Greeting::decode(&read_message(&mut stream).expect("a greeting")).unwrap();
        let (dialler, message) = Dialler::begin(key, own, &greeting, hello).unwrap();
        write_message(&mut stream, &message);
        let message = read_message(&mut stream).expect("an answer");
        let (answer, _, confirming) = dialler.receive(&message).unwrap();
        Asked { stream, answer, confirming }
    }

    /// Dials, and confirms.
    pub(crate) fn dial(address: SocketAddr, key: &GroupKey, hello: &Hello) -> Self {
        Self::dial_after(address, key, hello, None)
    }

    /// The same, with frames that come after those of another session.
    pub(crate) fn dial_after(
        address: SocketAddr,
        key: &GroupKey,
        hello: &Hello,
        after: Option<SessionId>,
    ) -> Self {
        let Asked { mut stream, answer, confirming, .. } = Self::ask(address, key, hello);
        let Answer::Welcome { version, .. } = answer else { panic!("{answer:?}") };
        let (message, session) = confirming.confirm(version).unwrap();
        write_message(&mut stream, &message);
        let mut rogue = Self { stream, session, sealed: 0, opened: 0 };
        rogue.write(&Record::Opening { after }.encode());
        rogue
    }

    /// Accepts a link as this node.
    pub(crate) fn accept(listener: &TcpListener, key: &GroupKey, me: u32) -> Self {
        let mut stream = accept(listener);
        let keyring = Keyring::of(key.clone());
        let greeting = Greeting::fresh(&keyring).unwrap();
        write_message(&mut stream, greeting.bytes());
        let message = read_message(&mut stream).expect("a hello");
        let own = NodeKey::generate().unwrap();
        let (handshake, _, _) = Listener::receive(&keyring, &own, &greeting, &message).unwrap();
        let welcome = Answer::Welcome { from: NodeId(me), incarnation: 666, version: 2 };
        let (message, answered) = handshake.answer(&welcome).unwrap();
        write_message(&mut stream, &message);
        let third = read_message(&mut stream).expect("a confirmation");
        let (session, _) = answered.confirm(&third).unwrap().unwrap();
        let mut rogue = Self { stream, session, sealed: 0, opened: 0 };
        rogue.read().expect("a first record");
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

/// A handshake that was answered.
pub(crate) struct Asked {
    pub(crate) stream: TcpStream,
    pub(crate) answer: Answer,
    pub(crate) confirming: Confirming,
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
