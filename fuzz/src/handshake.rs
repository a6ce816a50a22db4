//! Handshakes: nobody gets a session who has not made the very message that was read.
//!
//! The group's key is drawn anew by every process, so no file of the corpus can hold a message that
//! is sealed with it. Keys of handshakes are drawn anew every time, too: what an input does is the
//! same in every run, the bytes on the wire are not.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use tanist::GroupKey;
use tanist::transport::GROUP_NAME_MAX;
use tanist::transport::handshake::{
    Answer, Dialler, HandshakeError, Hello, Listener, MESSAGE_MAX, Refusal,
};
use tanist::transport::session::{Session, SessionId};
use tanist_core::NodeId;

use crate::mutation::mutated;

/// Checks bytes as instructions for a handshake that somebody meddles with.
pub fn check(bytes: &[u8]) {
    let mut source = Unstructured::new(bytes);
    // Too few bytes for all that was to be drawn from them: nothing is left to check.
    let _ = match source.int_in_range(0..=5) {
        Ok(0) => whole(&mut source),
        Ok(1) => meddled_first(&mut source),
        Ok(2) => meddled_second(&mut source),
        Ok(3) => foreign_key(&mut source),
        Ok(4) => made_up(&mut source),
        Ok(_) => sealed_nonsense(&mut source),
        Err(_) => return,
    };
}

/// Both with the key, and nobody between them.
fn whole(source: &mut Unstructured<'_>) -> Result<()> {
    let (hello, answer) = (hello(source)?, answer(source)?);
    let (dialler, first) = Dialler::begin(&KEY, &hello).expect("a hello of usual length");
    assert!(first.len() <= MESSAGE_MAX);
    let (listener, heard) = Listener::hear(&KEY, &first).expect("the same key");
    assert_eq!(heard, hello);
    let (second, theirs) = listener.answer(answer).expect("an answer is short");
    let (answered, ours) = dialler.finish(&second).expect("the same key");
    assert_eq!(answered, answer);
    assert_eq!(ours.id(), theirs.id());
    assert!(is_shared(&ours, &theirs));
    Ok(())
}

/// Message 1 is changed on its way.
fn meddled_first(source: &mut Unstructured<'_>) -> Result<()> {
    let hello = hello(source)?;
    let (_, first) = Dialler::begin(&KEY, &hello).expect("a hello of usual length");
    let changed = mutated(source, &first)?;
    match Listener::hear(&KEY, &changed) {
        Ok((_, heard)) => {
            assert_eq!(changed, first, "another message was taken");
            assert_eq!(heard, hello);
        }
        Err(error) => {
            assert_ne!(changed, first, "the genuine message was refused");
            assert_eq!(error, HandshakeError::Seal);
        }
    }
    Ok(())
}

/// Message 2 is changed on its way, or belongs to another dial.
fn meddled_second(source: &mut Unstructured<'_>) -> Result<()> {
    let (hello, answer) = (hello(source)?, answer(source)?);
    let (dialler, first) = Dialler::begin(&KEY, &hello).expect("a hello of usual length");
    let (listener, _) = Listener::hear(&KEY, &first).expect("the same key");
    let (second, theirs) = listener.answer(answer).expect("an answer is short");
    let (changed, dialler) = if source.arbitrary()? {
        (mutated(source, &second)?, dialler)
    } else {
        let (other, _) = Dialler::begin(&KEY, &hello).expect("a hello of usual length");
        assert_eq!(other.finish(&second).err(), Some(HandshakeError::Seal), "of another dial");
        (second.clone(), dialler)
    };
    match dialler.finish(&changed) {
        Ok((answered, ours)) => {
            assert_eq!(changed, second, "another message was taken");
            assert_eq!(answered, answer);
            assert!(is_shared(&ours, &theirs));
        }
        Err(error) => {
            assert_ne!(changed, second, "the genuine message was refused");
            assert_eq!(error, HandshakeError::Seal);
        }
    }
    Ok(())
}

/// One side has another group's key.
fn foreign_key(source: &mut Unstructured<'_>) -> Result<()> {
    let hello = hello(source)?;
    let (_, first) = Dialler::begin(&OTHER_KEY, &hello).expect("a hello of usual length");
    assert_eq!(Listener::hear(&KEY, &first).err(), Some(HandshakeError::Seal));
    let (dialler, first) = Dialler::begin(&KEY, &hello).expect("a hello of usual length");
    assert_eq!(Listener::hear(&OTHER_KEY, &first).err(), Some(HandshakeError::Seal));
    // A listener with another key who answers all the same, out of a handshake of its own.
    let (_, own) = Dialler::begin(&OTHER_KEY, &hello).expect("a hello of usual length");
    let (listener, _) = Listener::hear(&OTHER_KEY, &own).expect("the same key");
    let (second, _) = listener.answer(answer(source)?).expect("an answer is short");
    assert_eq!(dialler.finish(&second).err(), Some(HandshakeError::Seal));
    Ok(())
}

/// Bytes out of nowhere, for either side.
fn made_up(source: &mut Unstructured<'_>) -> Result<()> {
    let hello = hello(source)?;
    let (dialler, _) = Dialler::begin(&KEY, &hello).expect("a hello of usual length");
    let bytes = source.bytes(source.len())?;
    assert_eq!(Listener::hear(&KEY, bytes).err(), Some(HandshakeError::Seal));
    assert_eq!(dialler.finish(bytes).err(), Some(HandshakeError::Seal));
    Ok(())
}

/// A key holder that says something else than a hello, or answers with something else.
fn sealed_nonsense(source: &mut Unstructured<'_>) -> Result<()> {
    let (hello, for_dialler) = (hello(source)?, source.arbitrary()?);
    let nonsense = source.bytes(source.len().min(MESSAGE_MAX))?;
    let mut message = vec![0; 2 * MESSAGE_MAX];
    let mut payload = vec![0; 2 * MESSAGE_MAX];
    let pattern = PATTERN.parse().expect("a pattern of Noise");
    let builder = snow::Builder::new(pattern).prologue(PROLOGUE).expect("set once");
    let builder = builder.psk(0, &SECRET).expect("32 bytes");
    if for_dialler {
        let (dialler, first) = Dialler::begin(&KEY, &hello).expect("a hello of usual length");
        let mut noise = builder.build_responder().expect("complete");
        noise.read_message(&first, &mut payload).expect("this is the protocol, and the key");
        let length = noise.write_message(nonsense, &mut message).expect("room enough");
        assert_ne!(dialler.finish(&message[..length]).err(), Some(HandshakeError::Seal));
        return Ok(());
    }
    let mut noise = builder.build_initiator().expect("complete");
    let length = noise.write_message(nonsense, &mut message).expect("room enough");
    match Listener::hear(&KEY, &message[..length]) {
        Ok((_, heard)) if heard.group.len() <= GROUP_NAME_MAX => {
            let (_, again) = Dialler::begin(&KEY, &heard).expect("what was heard can be said");
            assert_eq!(Listener::hear(&KEY, &again).expect("the same key").1, heard);
        }
        Ok(_) => {}
        Err(error) => assert_eq!(error, HandshakeError::Malformed),
    }
    Ok(())
}

/// Whether what one side seals opens at the other.
fn is_shared(ours: &Session, theirs: &Session) -> bool {
    let (mut sealed, mut opened) = (Vec::new(), Vec::new());
    ours.seal_record(0, b"first", &mut sealed).expect("short");
    theirs.open_record(0, &sealed, &mut opened).is_ok() && opened == b"first"
}

fn hello(source: &mut Unstructured<'_>) -> Result<Hello> {
    let mut group: String = source.arbitrary()?;
    while group.len() > GROUP_NAME_MAX {
        group.pop();
    }
    Ok(Hello {
        version: source.arbitrary()?,
        group,
        from: NodeId(source.arbitrary()?),
        to: NodeId(source.arbitrary()?),
        incarnation: source.arbitrary()?,
        dial: source.arbitrary()?,
        lost: source.arbitrary::<Option<[u8; 8]>>()?.map(SessionId),
    })
}

fn answer(source: &mut Unstructured<'_>) -> Result<Answer> {
    Ok(match source.int_in_range(0..=3)? {
        0 => Answer::Refused(Refusal::TooBusy),
        1 => Answer::Refused(Refusal::Other(source.int_in_range(7..=u8::MAX)?)),
        _ => {
            Answer::Welcome { from: NodeId(source.arbitrary()?), incarnation: source.arbitrary()? }
        }
    })
}

static SECRET: LazyLock<[u8; 32]> = LazyLock::new(|| secret_of(&KEY));
static KEY: LazyLock<GroupKey> = LazyLock::new(|| GroupKey::generate().expect("chance"));
static OTHER_KEY: LazyLock<GroupKey> = LazyLock::new(|| GroupKey::generate().expect("chance"));

/// The bytes of a key, by way of its text form.
fn secret_of(key: &GroupKey) -> [u8; 32] {
    let text = key.to_text();
    let digits = text.rsplit(':').next().expect("a prefix and digits");
    let byte = |at: usize| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).expect("digits");
    std::array::from_fn(byte)
}

const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";
const PROLOGUE: &[u8] = b"tanist transport 1";
