//! Two nodes of one group that can make a handshake, and keys for whom they must not talk to.
//!
//! Challenges and ephemeral keys are fresh for each handshake, so no file of the corpus can hold a
//! message that opens: what an input does is the same in every run, the bytes on the wire are not.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use tanist::GroupKey;
use tanist::key::{Keyring, NodeKey};
use tanist::settings::{DIGEST_LENGTH, Settings};
use tanist::transport::GROUP_NAME_MAX;
use tanist::transport::greeting::Greeting;
use tanist::transport::handshake::{
    Answer, Dialler, HandshakeError, Hello, Listener, Refusal, Refused,
};
use tanist::transport::introduction::Introduction;
use tanist::transport::session::{Session, SessionId};
use tanist::transport::version::Versions;
use tanist_core::NodeId;

/// A group key that is made from one byte, so that its secret is known here.
pub(crate) fn group_key(byte: u8) -> GroupKey {
    GroupKey::parse(&format!("tanist-key-1:{}", hex(byte))).expect("a prefix and 64 digits")
}

/// A node's key pair that is made from one byte.
pub(crate) fn node_key(byte: u8) -> NodeKey {
    NodeKey::parse(&format!("tanist-node-secret-1:{}", hex(byte))).expect("a prefix and 64 digits")
}

fn hex(byte: u8) -> String {
    format!("{byte:02x}").repeat(32)
}

/// The keys that the group shares: the one in use, and one that is accepted as well.
pub(crate) static KEYRING: LazyLock<Keyring> = LazyLock::new(|| {
    let mut keyring = Keyring::of(group_key(KEY_BYTE));
    keyring.add(group_key(SECOND_KEY_BYTE)).expect("two keys are not too many");
    keyring
});
/// The key of another group.
pub(crate) static FOREIGN: LazyLock<GroupKey> = LazyLock::new(|| group_key(0x33));
/// The key pair of the dialling node.
pub(crate) static DIALLER: LazyLock<NodeKey> = LazyLock::new(|| node_key(0x44));
/// The key pair of the listening node.
pub(crate) static LISTENER: LazyLock<NodeKey> = LazyLock::new(|| node_key(0x55));

/// A greeting that was never said before.
pub(crate) fn greeting() -> Greeting {
    Greeting::fresh(&KEYRING).expect("the system has random bytes")
}

/// Message 1 for a greeting, with the key that the dialler chooses.
pub(crate) fn dial(greeting: &Greeting, hello: &Hello) -> (Dialler, Vec<u8>) {
    let key = greeting.choose(&KEYRING).expect("a key in common");
    Dialler::begin(key, &DIALLER, greeting, hello).expect("a hello of usual length")
}

/// What the listener makes of message 1.
pub(crate) fn receive(
    greeting: &Greeting,
    message: &[u8],
) -> std::result::Result<(Listener, Hello), HandshakeError> {
    let heard = Listener::receive(&KEYRING, &LISTENER, greeting, message);
    heard.map(|(listener, hello, _)| (listener, hello))
}

/// Both ends of a fresh session of this version: the dialler's and the listener's.
pub(crate) fn sessions(version: u8) -> (Session, Session) {
    let hello = Hello {
        versions: Versions::KNOWN,
        group: "jobs".to_owned(),
        from: NodeId(1),
        to: NodeId(2),
        incarnation: 1,
        dial: 1,
        lost: None,
        identity: DIALLER.public(),
        settings: settings([0; DIGEST_LENGTH], String::new()),
        introduction: None,
    };
    let greeting = greeting();
    let (dialler, first) = dial(&greeting, &hello);
    let (listener, _) = receive(&greeting, &first).expect("the genuine message");
    let welcome = Answer::Welcome { from: NodeId(2), incarnation: 2, version };
    let (second, answered) = listener.answer(&welcome).expect("a short answer");
    let (_, _, confirming) = dialler.receive(&second).expect("the genuine message");
    let (third, ours) = confirming.confirm(version).expect("an empty confirmation");
    let confirmed = answered.confirm(&third).expect("the genuine message");
    (ours, confirmed.expect("a confirmation").0)
}

/// Whether what either side seals opens at the other.
pub(crate) fn is_shared(ours: &Session, theirs: &Session) -> bool {
    let carries = |from: &Session, to: &Session| {
        let (mut sealed, mut opened) = (Vec::new(), Vec::new());
        from.seal_record(0, b"first", &mut sealed).expect("short");
        to.open_record(0, &sealed, &mut opened).is_ok() && opened == b"first"
    };
    carries(ours, theirs) && carries(theirs, ours)
}

/// Any hello that fits into a message.
pub(crate) fn any_hello(source: &mut Unstructured<'_>) -> Result<Hello> {
    Ok(Hello {
        versions: Versions { min: source.arbitrary()?, max: source.arbitrary()? },
        group: text(source, GROUP_NAME_MAX)?,
        from: NodeId(source.arbitrary()?),
        to: NodeId(source.arbitrary()?),
        incarnation: source.arbitrary()?,
        dial: source.arbitrary()?,
        lost: source.arbitrary::<Option<[u8; 8]>>()?.map(SessionId),
        identity: DIALLER.public(),
        settings: settings(source.arbitrary()?, text(source, SETTINGS_MAX)?),
        introduction: match source.arbitrary::<bool>()? {
            true => Some(Introduction {
                program: text(source, 40)?,
                peers_version: source.arbitrary()?,
                port: source.arbitrary()?,
                wall_clock_ms: source.arbitrary()?,
            }),
            false => None,
        },
    })
}

/// Settings as they are said.
pub(crate) fn settings(digest: [u8; DIGEST_LENGTH], text: String) -> Settings {
    Settings { digest, text, defaults: String::new(), names: Default::default() }
}

/// Any answer that a listener could give.
pub(crate) fn any_answer(source: &mut Unstructured<'_>) -> Result<Answer> {
    if source.arbitrary()? {
        return Ok(Answer::Refused(any_refusal(source)?));
    }
    Ok(Answer::Welcome {
        from: NodeId(source.arbitrary()?),
        incarnation: source.arbitrary()?,
        version: source.arbitrary()?,
    })
}

/// Any refusal that a node could give: its details are printable.
pub(crate) fn any_refusal(source: &mut Unstructured<'_>) -> Result<Refused> {
    let reason = match source.int_in_range(0..=10)? {
        0 => Refusal::Version,
        1 => Refusal::Group,
        2 => Refusal::UnknownNode,
        3 => Refusal::WrongNode,
        4 => Refusal::OwnId,
        5 => Refusal::TooBusy,
        6 => Refusal::Settings,
        7 => Refusal::Identity,
        8 => Refusal::Twin,
        9 => Refusal::Other(0),
        _ => Refusal::Other(source.int_in_range(10..=u8::MAX)?),
    };
    let detail: String = text(source, 4000)?.chars().filter(|c| !c.is_control()).collect();
    Ok(Refused::with(reason, &detail))
}

fn text(source: &mut Unstructured<'_>, length_max: usize) -> Result<String> {
    let mut text: String = source.arbitrary()?;
    text.truncate(text.floor_char_boundary(length_max));
    Ok(text)
}

/// The secret bytes of the group key in use, all alike.
pub(crate) const KEY_BYTE: u8 = 0x11;
const SECOND_KEY_BYTE: u8 = 0x22;
/// More settings than a node has; with the longest name of a group they fit into a message.
const SETTINGS_MAX: usize = 1300;
