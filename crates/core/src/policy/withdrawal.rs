//! Withdrawing and rejoining.

use core::time::Duration;

use super::{Message, Notice, Policy, Presence, Timer};
use crate::membership::NodeId;
use crate::mutant::{Mutant, mutants};
use crate::protocol::{Context, Effects};

impl Policy {
    pub(super) fn withdraw(
        &mut self,
        cx: &Context<'_>,
        hold: Option<Duration>,
        out: &mut Effects<Self>,
    ) {
        match &mut self.presence {
            Presence::Present => {
                self.presence = Presence::Leaving { hold };
                if cx.is_mutated(Mutant::FAREWELL_BEFORE_STOP) {
                    say_farewell(cx, None, out);
                }
            }
            Presence::Leaving { hold: asked } => *asked = hold,
            // Withdrawn already: the last request decides for how long.
            Presence::Withdrawn { wants_back, .. } => {
                *wants_back = false;
                set_hold(hold, out);
                out.notify(Notice::Withdrawn);
            }
        }
    }

    pub(super) fn leave(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let Presence::Leaving { hold } = self.presence else { return };
        self.presence = Presence::Withdrawn { is_quiet: false, wants_back: false };
        if self.outranked_in.take().is_some() {
            out.cancel_timer(Timer::Yield);
        }
        self.forget_priorities(cx);
        out.notify(Notice::Drop);
        say_farewell(cx, self.successor, out);
        set_hold(hold, out);
        out.notify(Notice::Withdrawn);
    }

    pub(super) fn refuse(&mut self, cx: &Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        let is_unobjected = self.is_unobjected();
        match &mut self.presence {
            // No answer: each farewell would delay the return by T.
            Presence::Withdrawn { wants_back: true, .. } if is_unobjected => {}
            Presence::Withdrawn { is_quiet, .. } => {
                *is_quiet = false;
                out.send(peer, Message::Farewell { successor: self.successor });
                out.set_timer(Timer::Quiet, cx.config.timing().answer());
            }
            Presence::Present | Presence::Leaving { .. } => {}
        }
    }

    pub(super) fn rejoin(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let is_unobjected = self.is_unobjected();
        match &mut self.presence {
            Presence::Present => {}
            // The application is stopping, and only an election tells it to begin again.
            Presence::Leaving { hold } => *hold = Some(Duration::ZERO),
            Presence::Withdrawn { is_quiet, wants_back } => {
                *wants_back = true;
                let may_rejoin = *is_quiet || cx.is_mutated(Mutant::RETURN_TOO_EARLY);
                if may_rejoin && is_unobjected {
                    self.rejoin_now(out);
                }
            }
        }
    }

    pub(super) fn calm_down(&mut self, out: &mut Effects<Self>) {
        let is_unobjected = self.is_unobjected();
        match &mut self.presence {
            Presence::Withdrawn { wants_back: true, .. } if is_unobjected => self.rejoin_now(out),
            Presence::Withdrawn { is_quiet, .. } => *is_quiet = true,
            Presence::Present | Presence::Leaving { .. } => {}
        }
    }

    pub(super) fn rejoin_now(&mut self, out: &mut Effects<Self>) {
        self.presence = Presence::Present;
        self.successor = None;
        out.cancel_timer(Timer::Hold);
        out.cancel_timer(Timer::Quiet);
        out.notify(Notice::Rejoined);
    }
}

pub(super) fn say_farewell(cx: &Context<'_>, successor: Option<NodeId>, out: &mut Effects<Policy>) {
    for other in cx.members.peer_group(cx.me).others(cx.me) {
        out.send(other, Message::Farewell { successor });
    }
    out.set_timer(Timer::Quiet, cx.config.timing().answer());
}

fn set_hold(hold: Option<Duration>, out: &mut Effects<Policy>) {
    match hold {
        Some(hold) => out.set_timer(Timer::Hold, hold),
        None => out.cancel_timer(Timer::Hold),
    }
}

mutants! {
    /// Withdrawal: farewell is said before the application has stopped.
    FAREWELL_BEFORE_STOP = "farewell-before-stop",
    /// Withdrawal: the node rejoins while its farewells are in flight.
    RETURN_TOO_EARLY = "return-too-early",
    /// Withdrawal: the election goes on although farewell was said.
    ANSWER_WHILE_WITHDRAWN = "answer-while-aside",
}
