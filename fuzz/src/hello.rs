//! What a key holder says inside a handshake, however wrong, and the texts that are compared there.
//!
//! The first byte says what the rest is: a greeting, the payload of one of the three messages
//! (sealed here as a holder of the group's key would seal it), two settings, or a range of versions.

use std::sync::LazyLock;

use snow::HandshakeState;
use tanist::key::KEYS_MAX;
use tanist::settings::{DIGEST_LENGTH, Settings};
use tanist::transport::greeting::Greeting;
use tanist::transport::handshake::{
    Answer, Answered, Confirming, Dialler, HandshakeError, Hello, Refusal, Refused,
};
use tanist::transport::version::Versions;
use tanist_core::NodeId;

use crate::pair::{DIALLER, KEY_BYTE, KEYRING, dial, greeting, receive, settings};

/// Checks bytes as what the first of them says.
pub fn check(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    match kind % 6 {
        GREETING => check_greeting(rest),
        HELLO => check_hello(&rest[..rest.len().min(PAYLOAD_MAX)]),
        ANSWER => check_answer(&rest[..rest.len().min(PAYLOAD_MAX)]),
        CONFIRMATION => check_confirmation(&rest[..rest.len().min(PAYLOAD_MAX)]),
        SETTINGS => check_settings(&String::from_utf8_lossy(rest)),
        _ => check_versions(&String::from_utf8_lossy(rest)),
    }
}

/// Valid inputs of every kind, for the corpus.
#[must_use]
pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let of = |kind: u8, rest: &[u8]| [&[kind], rest].concat();
    let lines = "algorithm=bully\ntiming.heartbeat=250ms\n\0algorithm=invitation\nmode=available\n\0\
                 mode=available\n";
    vec![
        ("greeting", of(GREETING, &same_greeting())),
        ("hello", of(HELLO, &HELLO_PAYLOAD)),
        ("welcome", of(ANSWER, &said_by_listener(&welcome()))),
        ("refused", of(ANSWER, &said_by_listener(&Answer::Refused(refused())))),
        (
            "confirmation",
            of(
                CONFIRMATION,
                &said_last(|confirming| confirming.confirm(2).expect("an empty confirmation").0),
            ),
        ),
        (
            "farewell",
            of(
                CONFIRMATION,
                &said_last(|confirming| confirming.refuse(&refused()).expect("a refusal fits")),
            ),
        ),
        ("settings", of(SETTINGS, lines.as_bytes())),
        ("versions", of(VERSIONS, b"2..3")),
    ]
}

/// A greeting with a challenge that is always the same.
fn same_greeting() -> Vec<u8> {
    let mut bytes = greeting().bytes().to_vec();
    let challenge = bytes.len() - CHALLENGE_LENGTH;
    bytes[challenge..].fill(7);
    bytes
}

fn check_greeting(bytes: &[u8]) {
    let Ok(greeting) = Greeting::decode(bytes) else { return };
    assert_eq!(greeting.bytes(), bytes);
    assert!(usize::from(bytes[2]) <= KEYS_MAX, "{} keys", bytes[2]);
    if let Some(key) = greeting.choose(&KEYRING) {
        let id = key.id().0;
        assert!(bytes.windows(id.len()).any(|part| part == id), "a key that was not offered");
        let begun = Dialler::begin(key, &DIALLER, &greeting, &HELLO_SAID);
        assert!(begun.is_ok(), "a greeting keeps the dialler from answering");
    }
}

/// A hello that the listener accepts is the same hello when it is encoded and received again.
fn check_hello(payload: &[u8]) {
    let greeting = greeting();
    let (_, message) = say_first(&greeting, payload);
    match receive(&greeting, &message) {
        Ok((listener, heard)) => {
            assert!(
                listener.answer(&welcome()).is_ok(),
                "a hello keeps the listener from answering"
            );
            // One that fits only with fields that nobody knows need not fit once more.
            let begun = Dialler::begin(KEYRING.active(), &DIALLER, &greeting, &heard);
            let Ok((_, again)) = begun else { return };
            assert_eq!(receive(&greeting, &again).expect("a hello that was heard").1, heard);
        }
        Err(error) => assert_eq!(error, HandshakeError::Malformed),
    }
}

fn check_answer(payload: &[u8]) {
    let greeting = greeting();
    let (dialler, first) = dial(&greeting, &HELLO_SAID);
    let mut noise = responder(&greeting, &first);
    match dialler.receive(&write(&mut noise, payload)) {
        Ok((answer, _, confirming)) => {
            if let Answer::Refused(refused) = &answer {
                check_refused(refused);
            }
            let (listener, _) = receive(&greeting, &first).expect("the genuine message");
            assert!(listener.answer(&answer).is_ok(), "{answer:?} cannot be said");
            assert!(confirming.confirm(2).is_ok(), "{answer:?} cannot be confirmed");
        }
        Err(error) => assert_eq!(error, HandshakeError::Malformed),
    }
}

fn check_confirmation(payload: &[u8]) {
    let greeting = greeting();
    let (mut noise, message) = say_first(&greeting, &HELLO_PAYLOAD);
    let (listener, _) = receive(&greeting, &message).expect("a genuine hello");
    let (second, answered): (_, Answered) = listener.answer(&welcome()).expect("an answer fits");
    read(&mut noise, &second);
    match answered.confirm(&write(&mut noise, payload)) {
        Ok(Ok((session, shown))) => {
            assert_eq!(session.remote_identity(), Some(shown));
            assert_eq!(shown, DIALLER.public());
        }
        Ok(Err(refused)) => check_refused(&refused),
        Err(error) => assert_eq!(error, HandshakeError::Malformed),
    }
}

/// What another node says about its refusal is short, and does nothing to a terminal.
fn check_refused(refused: &Refused) {
    assert!(refused.detail.len() <= DETAIL_MAX, "{} bytes of detail", refused.detail.len());
    let text = refused.to_string();
    assert!(!text.chars().any(char::is_control), "{text:?}");
    let may_have_lines = refused.reason == Refusal::Settings;
    let is_harmless = |c: char| !c.is_control() || (may_have_lines && c == '\n');
    assert!(refused.detail.chars().all(is_harmless), "{refused:?}");
}

/// Two nodes agree whether they differ, and a difference has two values.
fn check_settings(texts: &str) {
    let mut texts = texts.split('\0');
    let mut next = || texts.next().unwrap_or_default().to_owned();
    let (ours, theirs, defaults) = (&next(), &next(), &next());
    let told = |text: &str| Settings {
        digest: [0; DIGEST_LENGTH],
        text: text.to_owned(),
        defaults: defaults.clone(),
        names: Default::default(),
    };
    let there = told(ours).differences(theirs);
    let back = told(theirs).differences(ours);
    assert_eq!(there.is_empty(), back.is_empty(), "{there:?} and {back:?}");
    assert_eq!(told(ours).differences(ours), []);
    for difference in &there {
        assert_ne!(difference.ours, difference.theirs);
        assert!(!difference.to_string().is_empty());
        let is_mirrored = back.iter().any(|mirrored| {
            (&mirrored.key, &mirrored.ours, &mirrored.theirs)
                == (&difference.key, &difference.theirs, &difference.ours)
        });
        assert!(is_mirrored, "{difference:?} is not in {back:?}");
    }
}

fn check_versions(text: &str) {
    if let Some(versions) = Versions::parse(text) {
        assert!(versions.min <= versions.max);
        assert_eq!(versions.common(Versions::KNOWN), Some(versions.max));
    }
}

/// Seals a payload as message 1 of a holder of the group's key.
fn say_first(greeting: &Greeting, payload: &[u8]) -> (HandshakeState, Vec<u8>) {
    let header = header();
    let prologue = [PROLOGUE, &header, greeting.bytes()].concat();
    let mut noise = builder(&prologue).build_initiator().expect("complete");
    let sealed = write(&mut noise, payload);
    (noise, [&header[..], &sealed].concat())
}

/// A listener that has read message 1, and may answer whatever it likes.
fn responder(greeting: &Greeting, first: &[u8]) -> HandshakeState {
    let (header, sealed) = first.split_at(HEADER_LENGTH);
    let prologue = [PROLOGUE, header, greeting.bytes()].concat();
    let mut noise = builder(&prologue).build_responder().expect("complete");
    read(&mut noise, sealed);
    noise
}

fn builder(prologue: &[u8]) -> snow::Builder<'_> {
    let pattern = PATTERN.parse().expect("a pattern of Noise");
    let builder = snow::Builder::new(pattern).prologue(prologue).expect("set once");
    let builder = builder.local_private_key(&[DIALLER_BYTE; 32]).expect("set once");
    builder.psk(0, &[KEY_BYTE; 32]).expect("set once")
}

fn write(noise: &mut HandshakeState, payload: &[u8]) -> Vec<u8> {
    let mut message = vec![0; payload.len() + 256];
    let length = noise.write_message(payload, &mut message).expect("room enough");
    message.truncate(length);
    message
}

fn read(noise: &mut HandshakeState, message: &[u8]) -> Vec<u8> {
    let mut payload = vec![0; message.len()];
    let length = noise.read_message(message, &mut payload).expect("this is the protocol");
    payload.truncate(length);
    payload
}

fn header() -> [u8; HEADER_LENGTH] {
    let [a, b, c, d] = KEYRING.active().id().0;
    [FORMAT, a, b, c, d, 0, 0, 0]
}

/// The payload of a genuine message 2.
fn said_by_listener(answer: &Answer) -> Vec<u8> {
    let greeting = greeting();
    let (mut noise, message) = say_first(&greeting, &HELLO_PAYLOAD);
    let (listener, _) = receive(&greeting, &message).expect("a genuine hello");
    read(&mut noise, &listener.answer(answer).expect("an answer fits").0)
}

/// The payload of a genuine message 3.
fn said_last(say: impl FnOnce(Confirming) -> Vec<u8>) -> Vec<u8> {
    let greeting = greeting();
    let (dialler, first) = dial(&greeting, &HELLO_SAID);
    let mut noise = responder(&greeting, &first);
    let second = write(&mut noise, &said_by_listener(&welcome()));
    read(&mut noise, &say(dialler.receive(&second).expect("a genuine answer").2))
}

fn welcome() -> Answer {
    Answer::Welcome { from: NodeId(2), incarnation: 17, version: 2 }
}

fn refused() -> Refused {
    Refused::with(Refusal::Settings, "algorithm=bully\n")
}

static HELLO_SAID: LazyLock<Hello> = LazyLock::new(|| Hello {
    versions: Versions::RELEASED,
    group: "jobs".to_owned(),
    from: NodeId(1),
    to: NodeId(2),
    incarnation: 16,
    dial: 1,
    lost: None,
    identity: DIALLER.public(),
    settings: settings([7; DIGEST_LENGTH], "algorithm=bully\n".to_owned()),
    introduction: None,
});

/// The payload of a genuine message 1.
static HELLO_PAYLOAD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let greeting = greeting();
    let (_, first) = dial(&greeting, &HELLO_SAID);
    let (header, sealed) = first.split_at(HEADER_LENGTH);
    let prologue = [PROLOGUE, header, greeting.bytes()].concat();
    read(&mut builder(&prologue).build_responder().expect("complete"), sealed)
});

const GREETING: u8 = 0;
const HELLO: u8 = 1;
const ANSWER: u8 = 2;
const CONFIRMATION: u8 = 3;
const SETTINGS: u8 = 4;
const VERSIONS: u8 = 5;
/// What a sealed message of a handshake can carry at most.
const PAYLOAD_MAX: usize = 1900;
/// The longest detail of a refusal.
const DETAIL_MAX: usize = 1200;
const PATTERN: &str = "Noise_XXpsk0_25519_ChaChaPoly_BLAKE2s";
const PROLOGUE: &[u8] = b"tanist transport 2";
const FORMAT: u8 = 2;
const HEADER_LENGTH: usize = 8;
const CHALLENGE_LENGTH: usize = 32;
/// The secret bytes of the dialler's own key, all alike.
const DIALLER_BYTE: u8 = 0x44;
