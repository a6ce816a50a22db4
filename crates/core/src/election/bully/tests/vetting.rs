//! A node that has just started, and candidates that want to halt it.

use super::*;

/// The lowest of three, which has started and asked both others.
fn coming_up(options: &[(&str, &str)]) -> Bench<Bully> {
    Bench::coming_up(with(3, options), 1, None)
}

#[test]
fn the_highest_candidate_is_obeyed_at_once() {
    let mut bench = coming_up(&[]);
    bench.receive(3, enter(4, 3));
    assert_eq!(bench.state(), "Election under none in 4.n3 with {}");
    assert!(bench.machine.vetting.is_none());
}

#[test]
fn a_candidate_below_somebody_who_is_there_is_refused() {
    let mut bench = coming_up(&[]);
    bench.receive(3, Message::AyuAnswer { leads: false });
    assert_eq!(bench.receive(2, enter(4, 2)), ["send n2 EE_answer 4.n2 no"]);
    assert_eq!(bench.state(), "Down under none in none with {}");
}

#[test]
fn a_candidate_waits_until_it_is_known_who_is_above_it() {
    let mut bench = coming_up(&[]);
    bench.receive(2, Message::AyuAnswer { leads: false });
    assert_eq!(bench.receive(2, enter(4, 2)), NOTHING);
    assert_eq!(
        bench.receive(3, Message::AyuAnswer { leads: false }),
        ["send n2 EE_answer 4.n2 no"]
    );
    assert_eq!(bench.state(), "Down under none in none with {}");
}

#[test]
fn a_candidate_below_the_dead_is_obeyed_when_the_wait_is_over() {
    let mut bench = coming_up(&[]);
    bench.receive(2, Message::AyuAnswer { leads: false });
    assert_eq!(bench.receive(2, enter(4, 2)), NOTHING);
    bench.ring(Timer::Vet);
    assert_eq!(bench.state(), "Election under none in 4.n2 with {}");
}

#[test]
fn evidence_that_those_above_are_dead_ends_the_wait() {
    let mut bench = coming_up(&[]);
    bench.receive(2, Message::AyuAnswer { leads: false });
    assert_eq!(bench.receive(2, enter(4, 2)), NOTHING);
    bench.tell(Command::Failed(crate::membership::NodeId(3)));
    assert_eq!(bench.state(), "Election under none in 4.n2 with {}");
}

#[test]
fn whoever_has_been_up_for_long_enough_vets_nobody() {
    let mut bench = coming_up(&[]);
    bench.receive(3, Message::AyuAnswer { leads: false });
    bench.ring(Timer::Vet);
    bench.receive(2, enter(4, 2));
    assert_eq!(bench.state(), "Election under none in 4.n2 with {}");
}

#[test]
fn who_obeys_the_last_one_vets_nobody() {
    let mut bench = coming_up(&[("halted", "last")]);
    assert!(bench.machine.vetting.is_none());
    bench.receive(3, Message::AyuAnswer { leads: false });
    bench.receive(2, enter(4, 2));
    assert_eq!(bench.state(), "Election under none in 4.n2 with {}");
}
