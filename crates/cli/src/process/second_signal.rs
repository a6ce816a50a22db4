//! The second SIGTERM or SIGINT ends the process, whatever its other threads wait for.
//!
//! Commands listen for signals themselves and end in good order, the second time without waiting
//! for anything. That takes a main thread that runs. One that hangs, in a file system that does not
//! answer say, never hears of the signal; this thread does.

use std::io;
use std::process;
use std::thread;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::INTERRUPTED;
use crate::terminal::log;

/// Listens from now on. The second signal gives the process this long to end by itself.
pub(crate) fn listen(grace: Duration) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut terminate, mut interrupt) = {
        let _context = runtime.enter();
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?)
    };
    let work = move || {
        runtime.block_on(async {
            end(&mut terminate, &mut interrupt).await;
            end(&mut terminate, &mut interrupt).await;
            tokio::time::sleep(grace).await;
        });
        tracing::error!("told twice to end, and something hangs: ended without cleaning up");
        log::flush();
        process::exit(i32::from(INTERRUPTED));
    };
    thread::Builder::new().name("signals".to_owned()).spawn(work).map(drop)
}

/// Waits for one more signal to end.
pub(crate) async fn end(terminate: &mut Signal, interrupt: &mut Signal) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
