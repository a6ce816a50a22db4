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
            Presence::Leaving { hold: asked } | Presence::Overdue { hold: asked } => *asked = hold,
            // Withdrawn already: the last request decides for how long.
            Presence::Withdrawn { wants_back, .. } => {
                *wants_back = false;
                set_hold(hold, out);
                out.notify(Notice::Withdrawn);
            }
        }
    }

    pub(super) fn leave(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let (Presence::Leaving { hold } | Presence::Overdue { hold }) = self.presence else {
            return;
        };
        self.presence = Presence::Withdrawn { is_quiet: false, wants_back: false };
        self.forget_rank(out);
        self.forget_priorities(cx);
        out.notify(Notice::Drop);
        say_farewell(cx, self.successor, out);
        set_hold(hold, out);
        out.notify(Notice::Withdrawn);
    }

    /// The application has not answered in time. Nothing is said: a farewell would claim that it
    /// has stopped.
    pub(super) fn fall_silent(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let hold = match self.presence {
            // Nobody asked it to stay away.
            Presence::Present => Some(Duration::ZERO),
            Presence::Leaving { hold } => hold,
            Presence::Overdue { .. } | Presence::Withdrawn { .. } => return,
        };
        self.presence = Presence::Overdue { hold };
        // The others elect by themselves, long before a farewell could name this one.
        self.successor = None;
        self.forget_rank(out);
        out.notify(Notice::Drop);
        if cx.is_mutated(Mutant::FAREWELL_WHEN_OVERDUE) {
            say_farewell(cx, None, out);
        }
        out.notify(Notice::Overdue);
    }

    /// Forgets that a member of the group outranks this node.
    fn forget_rank(&mut self, out: &mut Effects<Self>) {
        if self.outranked_in.take().is_some() {
            out.cancel_timer(Timer::Yield);
        }
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
            Presence::Present | Presence::Leaving { .. } | Presence::Overdue { .. } => {}
        }
    }

    pub(super) fn rejoin(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let is_unobjected = self.is_unobjected();
        match &mut self.presence {
            Presence::Present => {}
            // The application is stopping, and only an election tells it to begin again.
            Presence::Leaving { hold } | Presence::Overdue { hold } => *hold = Some(Duration::ZERO),
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
            Presence::Present | Presence::Leaving { .. } | Presence::Overdue { .. } => {}
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
    /// Withdrawal: a node waits for its application forever.
    STOP_WITHOUT_LIMIT = "stop-without-limit",
    /// Withdrawal: farewell is said although the application has not stopped in time.
    FAREWELL_WHEN_OVERDUE = "farewell-when-overdue",
    /// Withdrawal: the election goes on although farewell was said.
    ANSWER_WHILE_WITHDRAWN = "answer-while-aside",
}
