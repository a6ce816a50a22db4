//! Whose terminal it is: the job's while it runs, ours again afterwards.
//!
//! Only a process of the foreground group may hand the terminal on without being stopped for it.
//! So `tanist run` gives it to the keeper's group, to which the command belongs, and the keeper
//! gives it back when all other processes are gone.

use std::os::fd::AsFd;

use rustix::process::{Pid, getpgrp};
use rustix::termios::{isatty, tcgetpgrp, tcsetpgrp};

/// Hands the terminal to another group, if there is one and it is ours. Says whether it did.
pub(crate) fn give(terminal: impl AsFd, group: Pid) -> bool {
    let is_ours = isatty(&terminal) && tcgetpgrp(&terminal).is_ok_and(|holder| holder == getpgrp());
    is_ours && tcsetpgrp(&terminal, group).is_ok()
}
