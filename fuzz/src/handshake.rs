//! Handshakes: a session comes only from the very messages that key holders made for this
//! connection.

use arbitrary::{Result, Unstructured};
use tanist::transport::greeting::Greeting;
use tanist::transport::handshake::{
    Answer, Answered, Dialler, HandshakeError, Hello, MESSAGE_MAX, Refused,
};

use crate::mutation::mutated;
use crate::pair::{
    DIALLER, FOREIGN, KEYRING, LISTENER, any_answer, any_hello, any_refusal, dial, greeting,
    is_shared, receive,
};

/// Checks bytes as instructions for a handshake, and for what happens to it on its way.
pub fn check(bytes: &[u8]) {
    let mut source = Unstructured::new(bytes);
    // Too few bytes for all that was to be drawn from them: nothing is left to check.
    let _ = match source.int_in_range(0..=7) {
        Ok(0) => whole(&mut source),
        Ok(1) => changed_greeting(&mut source),
        Ok(2) => changed_first(&mut source),
        Ok(3) => recorded_first(&mut source),
        Ok(4) => changed_second(&mut source),
        Ok(5) => changed_third(&mut source),
        Ok(6) => foreign_key(&mut source),
        Ok(_) => made_up(&mut source),
        Err(_) => return,
    };
}

/// Both have the key, and nothing happens on the way: what one says the other hears.
fn whole(source: &mut Unstructured<'_>) -> Result<()> {
    let (hello, answer) = (any_hello(source)?, any_answer(source)?);
    let greeting = greeting();
    let read = Greeting::decode(greeting.bytes()).expect("the genuine greeting");
    assert_eq!(read, greeting);
    let (dialler, first) = dial(&read, &hello);
    assert!(first.len() <= MESSAGE_MAX);
    let (listener, heard) = receive(&greeting, &first).expect("the genuine message");
    assert_eq!(heard, hello);
    let (second, answered) = listener.answer(&answer).expect("an answer fits");
    assert!(second.len() <= MESSAGE_MAX);
    let (told, shown, confirming) = dialler.receive(&second).expect("the genuine message");
    assert_eq!(told, answer);
    assert_eq!(shown, LISTENER.public());
    let id = answered.id();
    let Answer::Welcome { version, .. } = answer else { return Ok(()) };
    if source.arbitrary()? {
        let refused = any_refusal(source)?;
        let third = confirming.refuse(&refused).expect("a refusal fits");
        assert!(third.len() <= MESSAGE_MAX);
        assert_eq!(confirm(answered, &third).expect("the genuine message"), Err(refused));
        return Ok(());
    }
    let (third, ours) = confirming.confirm(version).expect("an empty confirmation");
    let (theirs, shown) =
        answered.confirm(&third).expect("the genuine message").expect("a confirmation");
    assert_eq!(shown, DIALLER.public());
    assert_eq!((ours.id(), theirs.id()), (id, id));
    assert_eq!((ours.version(), theirs.version()), (version, version));
    assert_eq!(ours.remote_identity(), Some(LISTENER.public()));
    assert_eq!(theirs.remote_identity(), Some(DIALLER.public()));
    assert!(is_shared(&ours, &theirs));
    Ok(())
}

/// The dialler hears another greeting than the listener said.
fn changed_greeting(source: &mut Unstructured<'_>) -> Result<()> {
    let (hello, said) = (any_hello(source)?, greeting());
    let bytes = mutated(source, said.bytes())?;
    let Ok(heard) = Greeting::decode(&bytes) else {
        assert_ne!(bytes, said.bytes(), "the genuine greeting was refused");
        return Ok(());
    };
    assert_eq!(heard.bytes(), bytes);
    let Some(key) = heard.choose(&KEYRING) else { return Ok(()) };
    let begun = Dialler::begin(key, &DIALLER, &heard, &hello);
    let (_, first) = begun.expect("a hello of usual length");
    match receive(&said, &first) {
        Ok(_) => assert_eq!(bytes, said.bytes(), "message 1 answers another greeting"),
        Err(error) => {
            assert_ne!(bytes, said.bytes(), "the genuine message was refused");
            assert_eq!(error, HandshakeError::Seal);
        }
    }
    Ok(())
}

/// Message 1 is changed on its way.
fn changed_first(source: &mut Unstructured<'_>) -> Result<()> {
    let (hello, greeting) = (any_hello(source)?, greeting());
    let (_, first) = dial(&greeting, &hello);
    let changed = mutated(source, &first)?;
    match receive(&greeting, &changed) {
        Ok((_, heard)) => {
            assert_eq!(changed, first, "another message was taken");
            assert_eq!(heard, hello);
        }
        Err(error) => {
            assert_ne!(changed, first, "the genuine message was refused");
            assert!(is_unauthentic(error), "{error:?} for what no key holder has said");
        }
    }
    Ok(())
}

/// Message 1 was recorded on another connection, and is changed or not.
fn recorded_first(source: &mut Unstructured<'_>) -> Result<()> {
    let hello = any_hello(source)?;
    let (_, first) = dial(&greeting(), &hello);
    let later = greeting();
    assert_eq!(receive(&later, &first).err(), Some(HandshakeError::Seal), "a recording was taken");
    let error = receive(&later, &mutated(source, &first)?).err();
    assert!(error.is_some_and(is_unauthentic), "{error:?} for a changed recording");
    Ok(())
}

/// Message 2 is changed on its way, or belongs to another dial.
fn changed_second(source: &mut Unstructured<'_>) -> Result<()> {
    let (hello, answer) = (any_hello(source)?, any_answer(source)?);
    let greeting = greeting();
    let (dialler, first) = dial(&greeting, &hello);
    let (listener, _) = receive(&greeting, &first).expect("the genuine message");
    let (second, _) = listener.answer(&answer).expect("an answer fits");
    if source.arbitrary()? {
        // The same hello to the same greeting: only the ephemeral key differs.
        let (other, _) = dial(&greeting, &hello);
        assert_eq!(other.receive(&second).err(), Some(HandshakeError::Seal), "of another dial");
        return Ok(());
    }
    let changed = mutated(source, &second)?;
    match dialler.receive(&changed) {
        Ok((told, _, _)) => {
            assert_eq!(changed, second, "another message was taken");
            assert_eq!(told, answer);
        }
        Err(error) => {
            assert_ne!(changed, second, "the genuine message was refused");
            assert_eq!(error, HandshakeError::Seal);
        }
    }
    Ok(())
}

/// Message 3 is changed on its way, or belongs to another handshake.
fn changed_third(source: &mut Unstructured<'_>) -> Result<()> {
    let hello = any_hello(source)?;
    let (answered, third) = confirmed(&hello);
    if source.arbitrary()? {
        let (other, _) = confirmed(&hello);
        assert_eq!(confirm(other, &third), Err(HandshakeError::Seal), "of another handshake");
        return Ok(());
    }
    let changed = mutated(source, &third)?;
    match confirm(answered, &changed) {
        Ok(_) => assert_eq!(changed, third, "another message was taken"),
        Err(error) => {
            assert_ne!(changed, third, "the genuine message was refused");
            assert_eq!(error, HandshakeError::Seal);
        }
    }
    Ok(())
}

/// One side has another group's key.
fn foreign_key(source: &mut Unstructured<'_>) -> Result<()> {
    let (hello, greeting) = (any_hello(source)?, greeting());
    let begun = Dialler::begin(&FOREIGN, &DIALLER, &greeting, &hello);
    let (dialler, mut first) = begun.expect("a hello of usual length");
    assert_eq!(receive(&greeting, &first).err(), Some(HandshakeError::NoCommonKey));
    // Under the name of a key that the listener has.
    first[1..5].copy_from_slice(&KEYRING.active().id().0);
    assert_eq!(receive(&greeting, &first).err(), Some(HandshakeError::Seal));
    // A listener of this group answers another dial; the foreign dialler gets that answer.
    let (_, first) = dial(&greeting, &hello);
    let (listener, _) = receive(&greeting, &first).expect("the genuine message");
    let (second, _) = listener.answer(&any_answer(source)?).expect("an answer fits");
    assert_eq!(dialler.receive(&second).err(), Some(HandshakeError::Seal));
    Ok(())
}

/// Bytes that no key holder made, for each of the readers.
fn made_up(source: &mut Unstructured<'_>) -> Result<()> {
    let (hello, reader) = (any_hello(source)?, source.int_in_range(0..=3)?);
    let greeting = greeting();
    let bytes = source.bytes(source.len())?;
    let error = match reader {
        0 => receive(&greeting, bytes).err(),
        // After a right header.
        1 => {
            let (_, first) = dial(&greeting, &hello);
            receive(&greeting, &[&first[..HEADER_LENGTH], bytes].concat()).err()
        }
        2 => dial(&greeting, &hello).0.receive(bytes).err(),
        _ => confirm(confirmed(&hello).0, bytes).err(),
    };
    assert!(error.is_some_and(is_unauthentic), "{error:?} for made-up bytes");
    Ok(())
}

/// A handshake as far as message 3, which is not delivered.
fn confirmed(hello: &Hello) -> (Answered, Vec<u8>) {
    let greeting = greeting();
    let (dialler, first) = dial(&greeting, hello);
    let (listener, _) = receive(&greeting, &first).expect("the genuine message");
    let welcome = Answer::Welcome { from: hello.to, incarnation: 1, version: 2 };
    let (second, answered) = listener.answer(&welcome).expect("an answer fits");
    let (_, _, confirming) = dialler.receive(&second).expect("the genuine message");
    let (third, _) = confirming.confirm(2).expect("an empty confirmation");
    (answered, third)
}

/// What the listener makes of message 3; sessions cannot be compared.
fn confirm(
    answered: Answered,
    message: &[u8],
) -> std::result::Result<std::result::Result<(), Refused>, HandshakeError> {
    answered.confirm(message).map(|confirmed| confirmed.map(|_| ()))
}

/// Whether an error says that no holder of a common key made these bytes for this connection.
fn is_unauthentic(error: HandshakeError) -> bool {
    match error {
        HandshakeError::Format | HandshakeError::NoCommonKey | HandshakeError::Seal => true,
        HandshakeError::Greeting | HandshakeError::Malformed | HandshakeError::Setup => false,
    }
}

/// What stands before Noise's own message 1.
const HEADER_LENGTH: usize = 8;
