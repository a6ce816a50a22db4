//! Handshakes in memory, whole and damaged.

use super::*;

/// Both ends of a fresh session: the dialler's and the listener's.
pub(in super::super) fn session_pair() -> (Session, Session) {
    let key = GroupKey::generate().unwrap();
    let (dialler, first) = Dialler::begin(&key, &hello()).unwrap();
    let (listener, _) = Listener::hear(&key, &first).unwrap();
    let (second, theirs) = listener.answer(welcome()).unwrap();
    let (_, ours) = dialler.finish(&second).unwrap();
    (ours, theirs)
}

fn hello() -> Hello {
    Hello {
        version: VERSION,
        group: "jobs".to_owned(),
        from: NodeId(1),
        to: NodeId(2),
        incarnation: u64::MAX,
        dial: 3,
        lost: Some(SessionId([1, 2, 3, 4, 5, 6, 7, 8])),
    }
}

fn welcome() -> Answer {
    Answer::Welcome { from: NodeId(2), incarnation: 17 }
}

#[test]
fn both_sides_learn_who_the_other_is_and_share_a_session() {
    let key = GroupKey::generate().unwrap();
    let (dialler, first) = Dialler::begin(&key, &hello()).unwrap();
    assert!(first.len() <= MESSAGE_MAX);
    let (listener, heard) = Listener::hear(&key, &first).unwrap();
    assert_eq!(heard, hello());
    let (second, theirs) = listener.answer(welcome()).unwrap();
    let (answer, ours) = dialler.finish(&second).unwrap();
    assert_eq!(answer, welcome());
    assert_eq!(ours.id(), theirs.id());
}

#[test]
fn every_refusal_arrives_as_itself() {
    let key = GroupKey::generate().unwrap();
    for number in 0..=255 {
        let refusal = Refusal::numbered(number);
        assert_eq!(refusal.number(), number);
        let (dialler, first) = Dialler::begin(&key, &hello()).unwrap();
        let (listener, _) = Listener::hear(&key, &first).unwrap();
        let (second, _) = listener.answer(Answer::Refused(refusal)).unwrap();
        assert_eq!(dialler.finish(&second).unwrap().0, Answer::Refused(refusal));
    }
}

#[test]
fn another_key_opens_nothing() {
    let (key, other) = (GroupKey::generate().unwrap(), GroupKey::generate().unwrap());
    let (_, first) = Dialler::begin(&key, &hello()).unwrap();
    assert_eq!(Listener::hear(&other, &first).unwrap_err(), HandshakeError::Seal);
}

#[test]
fn every_flipped_bit_and_every_cut_of_message_one_is_refused() {
    let key = GroupKey::generate().unwrap();
    let (_, first) = Dialler::begin(&key, &hello()).unwrap();
    for bit in 0..first.len() * 8 {
        let mut flipped = first.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        // X25519 ignores the top bit of a public key, but the hash of the handshake does not.
        let heard = Listener::hear(&key, &flipped);
        assert_eq!(heard.unwrap_err(), HandshakeError::Seal, "bit {bit}");
    }
    for length in 0..first.len() {
        let heard = Listener::hear(&key, &first[..length]);
        assert_eq!(heard.unwrap_err(), HandshakeError::Seal, "length {length}");
    }
}

#[test]
fn an_answer_to_another_dial_is_refused() {
    let key = GroupKey::generate().unwrap();
    let (_, first) = Dialler::begin(&key, &hello()).unwrap();
    let (listener, _) = Listener::hear(&key, &first).unwrap();
    let (second, _) = listener.answer(welcome()).unwrap();
    let (later, _) = Dialler::begin(&key, &hello()).unwrap();
    assert_eq!(later.finish(&second).unwrap_err(), HandshakeError::Seal);
}

#[test]
fn a_replayed_message_one_gives_another_session_than_the_first_time() {
    let key = GroupKey::generate().unwrap();
    let (_, first) = Dialler::begin(&key, &hello()).unwrap();
    let (once, _) = Listener::hear(&key, &first).unwrap();
    let (again, _) = Listener::hear(&key, &first).unwrap();
    let (_, once) = once.answer(welcome()).unwrap();
    let (_, again) = again.answer(welcome()).unwrap();
    assert_ne!(once.id(), again.id());
}

#[test]
fn random_bytes_never_panic() {
    let key = GroupKey::generate().unwrap();
    let mut chance = 0x1234_5678_9abc_def1_u64;
    for seed in 0..500 {
        let mut bytes = Vec::new();
        for _ in 0..seed {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            bytes.push((chance >> 24) as u8);
        }
        assert!(Listener::hear(&key, &bytes).is_err(), "seed={seed}");
        let (dialler, _) = Dialler::begin(&key, &hello()).unwrap();
        assert!(dialler.finish(&bytes).is_err(), "seed={seed}");
    }
}
