//! Handshakes in memory, whole and damaged.

use super::*;
use crate::settings::DIGEST_LENGTH;

/// Everything that two nodes need for a handshake.
struct Pair {
    keyring: Keyring,
    dialler: NodeKey,
    listener: NodeKey,
    greeting: Greeting,
}

impl Pair {
    fn new() -> Self {
        let keyring = Keyring::of(GroupKey::generate().unwrap());
        let greeting = Greeting::fresh(&keyring).unwrap();
        let own = || NodeKey::generate().unwrap();
        Self { keyring, dialler: own(), listener: own(), greeting }
    }

    fn hello(&self) -> Hello {
        Hello {
            versions: Versions { min: 2, max: 3 },
            group: "jobs".to_owned(),
            from: NodeId(1),
            to: NodeId(2),
            incarnation: u64::MAX,
            dial: 3,
            lost: Some(SessionId([1, 2, 3, 4, 5, 6, 7, 8])),
            identity: self.dialler.public(),
            settings: Settings {
                digest: [7; DIGEST_LENGTH],
                text: "algorithm=bully\n".to_owned(),
                defaults: String::new(),
                names: Default::default(),
            },
            introduction: Some(about()),
        }
    }

    fn dial(&self) -> (Dialler, Vec<u8>) {
        let key = self.keyring.active();
        Dialler::begin(key, &self.dialler, &self.greeting, &self.hello()).unwrap()
    }

    fn receive(&self, message: &[u8]) -> Result<(Listener, Hello, KeyId), HandshakeError> {
        Listener::receive(&self.keyring, &self.listener, &self.greeting, message)
    }
}

/// Both ends of a fresh session: the dialler's and the listener's.
pub(in super::super) fn session_pair() -> (Session, Session) {
    let pair = Pair::new();
    let (dialler, first) = pair.dial();
    let (listener, _, _) = pair.receive(&first).unwrap();
    let (second, answered) = listener.answer(&welcome()).unwrap();
    let (_, _, confirming) = dialler.receive(&second).unwrap();
    let (third, ours) = confirming.confirm(2).unwrap();
    let (theirs, _) = answered.confirm(&third).unwrap().unwrap();
    (ours, theirs)
}

fn about() -> Introduction {
    Introduction {
        program: "x".repeat(32),
        peers_version: u32::MAX,
        port: Some(u16::MAX),
        wall_clock_ms: i64::MIN,
    }
}

fn welcome() -> Answer {
    Answer::Welcome { from: NodeId(2), incarnation: 17, version: 2 }
}

#[test]
fn both_sides_learn_who_the_other_is_and_share_a_session() {
    let pair = Pair::new();
    let (dialler, first) = pair.dial();
    assert!(first.len() <= MESSAGE_MAX);
    let (listener, heard, key) = pair.receive(&first).unwrap();
    assert_eq!(heard, pair.hello());
    assert_eq!(key, pair.keyring.active().id());
    let (second, answered) = listener.answer(&welcome()).unwrap();
    let (answer, shown, confirming) = dialler.receive(&second).unwrap();
    assert_eq!(answer, welcome());
    assert_eq!(shown, pair.listener.public());
    let id = answered.id();
    let (third, ours) = confirming.confirm(2).unwrap();
    let (theirs, shown) = answered.confirm(&third).unwrap().unwrap();
    assert_eq!(shown, pair.dialler.public());
    assert_eq!((ours.id(), theirs.id()), (id, id));
    assert_eq!(theirs.remote_identity(), Some(pair.dialler.public()));
    assert_eq!((ours.version(), theirs.version()), (2, 2));
}

#[test]
fn the_longest_hello_fits() {
    let pair = Pair::new();
    let text = "k".repeat(1300);
    let settings = Settings {
        digest: [7; DIGEST_LENGTH],
        text,
        defaults: String::new(),
        names: Default::default(),
    };
    let hello = Hello { group: "g".repeat(255), settings, ..pair.hello() };
    let key = pair.keyring.active();
    let (_, first) = Dialler::begin(key, &pair.dialler, &pair.greeting, &hello).unwrap();
    assert!(first.len() <= MESSAGE_MAX, "{}", first.len());
    assert_eq!(pair.receive(&first).unwrap().1, hello);
}

#[test]
fn every_refusal_arrives_as_itself_on_either_side() {
    let pair = Pair::new();
    for number in 0..=255 {
        let refused = Refused::with(Refusal::numbered(number), "why");
        assert_eq!(refused.reason.number(), number);
        let (dialler, first) = pair.dial();
        let (listener, _, _) = pair.receive(&first).unwrap();
        let (second, answered) = listener.answer(&Answer::Refused(refused.clone())).unwrap();
        let (answer, _, confirming) = dialler.receive(&second).unwrap();
        assert_eq!(answer, Answer::Refused(refused.clone()));
        let third = confirming.refuse(&refused).unwrap();
        assert_eq!(answered.confirm(&third).unwrap().unwrap_err(), refused);
    }
}

#[test]
fn both_sides_are_introduced_and_a_release_that_does_not_is_understood() {
    let pair = Pair::new();
    for introduction in [None, Some(about())] {
        let hello = Hello { introduction: introduction.clone(), ..pair.hello() };
        let key = pair.keyring.active();
        let (dialler, first) = Dialler::begin(key, &pair.dialler, &pair.greeting, &hello).unwrap();
        let (listener, heard, _) = pair.receive(&first).unwrap();
        assert_eq!(heard.introduction, introduction);
        let listener = match introduction.clone() {
            Some(introduction) => listener.introduce(introduction),
            None => listener,
        };
        let longest = Refused::with(Refusal::Settings, &"s".repeat(2000));
        let (second, _) = listener.answer(&Answer::Refused(longest.clone())).unwrap();
        assert!(second.len() <= MESSAGE_MAX, "{}", second.len());
        let (answer, _, confirming) = dialler.receive(&second).unwrap();
        assert_eq!(answer, Answer::Refused(longest));
        assert_eq!(confirming.introduction(), introduction.as_ref());
    }
}

#[test]
fn control_characters_in_the_detail_of_a_refusal_do_not_arrive() {
    let pair = Pair::new();
    for (reason, heard) in [(Refusal::Version, "2 [31m  9"), (Refusal::Settings, "2 [31m \n9")] {
        let refused = Refused { reason, detail: "2\u{1b}[31m\u{85}\n9".to_owned() };
        let (dialler, first) = pair.dial();
        let (listener, _, _) = pair.receive(&first).unwrap();
        let (second, answered) = listener.answer(&Answer::Refused(refused.clone())).unwrap();
        let (answer, _, confirming) = dialler.receive(&second).unwrap();
        let expected = Refused { reason, detail: heard.to_owned() };
        assert_eq!(answer, Answer::Refused(expected.clone()));
        let third = confirming.refuse(&refused).unwrap();
        assert_eq!(answered.confirm(&third).unwrap().unwrap_err(), expected);
    }
}

#[test]
fn another_key_opens_nothing() {
    let (pair, other) = (Pair::new(), Pair::new());
    let (_, first) = pair.dial();
    assert_eq!(other.receive(&first).unwrap_err(), HandshakeError::NoCommonKey);
    // With the name of a key that is there, and another secret.
    let mut renamed = first.clone();
    renamed[1..5].copy_from_slice(&other.keyring.active().id().0);
    assert_eq!(other.receive(&renamed).unwrap_err(), HandshakeError::Seal);
}

#[test]
fn a_recorded_first_message_does_not_open_under_another_greeting() {
    let mut pair = Pair::new();
    let (_, first) = pair.dial();
    assert!(pair.receive(&first).is_ok());
    pair.greeting = Greeting::fresh(&pair.keyring).unwrap();
    assert_eq!(pair.receive(&first).unwrap_err(), HandshakeError::Seal);
}

#[test]
fn every_flipped_bit_and_every_cut_of_message_one_is_refused() {
    let pair = Pair::new();
    let (_, first) = pair.dial();
    for bit in 0..first.len() * 8 {
        let mut flipped = first.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        // X25519 ignores the top bit of a public key, but the hash of the handshake does not; and
        // the reserved bytes are hashed, too.
        assert!(pair.receive(&flipped).is_err(), "bit {bit}");
    }
    for length in 0..first.len() {
        assert!(pair.receive(&first[..length]).is_err(), "length {length}");
    }
}

#[test]
fn every_flipped_bit_of_messages_two_and_three_is_refused() {
    let pair = Pair::new();
    for bit in (0..8 * 40).step_by(7) {
        let (dialler, first) = pair.dial();
        let (listener, _, _) = pair.receive(&first).unwrap();
        let (mut second, answered) = listener.answer(&welcome()).unwrap();
        let honest = second.clone();
        second[bit / 8] ^= 1 << (bit % 8);
        assert!(dialler.receive(&second).is_err(), "bit {bit}");
        let (again, first) = pair.dial();
        let (listener, _, _) = pair.receive(&first).unwrap();
        let (second, confirmed) = listener.answer(&welcome()).unwrap();
        let (mut third, _) = again.receive(&second).unwrap().2.confirm(2).unwrap();
        third[bit / 8] ^= 1 << (bit % 8);
        assert!(confirmed.confirm(&third).is_err(), "bit {bit}");
        assert!(answered.confirm(&honest).is_err());
    }
}

#[test]
fn an_answer_to_another_dial_is_refused() {
    let pair = Pair::new();
    let (_, first) = pair.dial();
    let (listener, _, _) = pair.receive(&first).unwrap();
    let (second, _) = listener.answer(&welcome()).unwrap();
    let (later, _) = pair.dial();
    assert_eq!(later.receive(&second).unwrap_err(), HandshakeError::Seal);
}

#[test]
fn random_bytes_never_panic() {
    let pair = Pair::new();
    let mut chance = 0x1234_5678_9abc_def1_u64;
    for seed in 0..500 {
        let mut bytes = Vec::new();
        for _ in 0..seed {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            bytes.push((chance >> 24) as u8);
        }
        assert!(pair.receive(&bytes).is_err(), "seed={seed}");
        let (dialler, _) = pair.dial();
        assert!(dialler.receive(&bytes).is_err(), "seed={seed}");
        let _ = Greeting::decode(&bytes);
    }
}
