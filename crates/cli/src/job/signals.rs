//! The signals that `tanist run` gets.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::process::second_signal::end;

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// TERM, INT: an orderly end.
    End,
    /// QUIT, HUP: something for the command, or an end if there is none.
    PassOrEnd(rustix::process::Signal),
    /// USR1, USR2: something for the command.
    Pass(rustix::process::Signal),
}

/// Listens, from the moment it is made.
#[derive(Debug)]
pub(crate) struct Signals {
    term: Signal,
    interrupt: Signal,
    quit: Signal,
    hangup: Signal,
    user_one: Signal,
    user_two: Signal,
    /// How often an end was wished.
    ends: u32,
    /// Whether one of them was noticed by [`Signals::told_twice`] only.
    is_end_unheard: bool,
}

impl Signals {
    /// Begins.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            term: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            hangup: signal(SignalKind::hangup())?,
            user_one: signal(SignalKind::user_defined1())?,
            user_two: signal(SignalKind::user_defined2())?,
            ends: 0,
            is_end_unheard: false,
        })
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Wish {
        use rustix::process::Signal as Number;
        if std::mem::take(&mut self.is_end_unheard) {
            return Wish::End;
        }
        tokio::select! {
            biased;
            () = end(&mut self.term, &mut self.interrupt) => {
                self.ends += 1;
                Wish::End
            }
            _ = self.quit.recv() => Wish::PassOrEnd(Number::QUIT),
            _ = self.hangup.recv() => Wish::PassOrEnd(Number::HUP),
            _ = self.user_one.recv() => Wish::Pass(Number::USR1),
            _ = self.user_two.recv() => Wish::Pass(Number::USR2),
        }
    }

    /// Waits until an end was wished twice. Given up earlier, it takes no wish from [`next`].
    ///
    /// [`next`]: Signals::next
    pub(crate) async fn told_twice(&mut self) {
        while self.ends < 2 {
            end(&mut self.term, &mut self.interrupt).await;
            self.ends += 1;
            self.is_end_unheard = true;
        }
    }
}
