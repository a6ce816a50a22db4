//! The signals that `tanist run` gets.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What somebody wants who sends a signal.
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
        })
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Wish {
        use rustix::process::Signal as Number;
        tokio::select! {
            biased;
            _ = self.term.recv() => Wish::End,
            _ = self.interrupt.recv() => Wish::End,
            _ = self.quit.recv() => Wish::PassOrEnd(Number::QUIT),
            _ = self.hangup.recv() => Wish::PassOrEnd(Number::HUP),
            _ = self.user_one.recv() => Wish::Pass(Number::USR1),
            _ = self.user_two.recv() => Wish::Pass(Number::USR2),
        }
    }
}
