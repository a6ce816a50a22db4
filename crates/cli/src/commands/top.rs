//! `tanist top`: a group as one of its nodes sees it, live on the terminal.
//!
//! ```text
//! feed.rs (asks on every change and every second) --\
//! keys and signals ----------------------------------+--> Event --> view.rs --> screen.rs
//! ```
//!
//! Shows, and changes nothing. The terminal is given back on every way out but SIGKILL.

mod feed;
mod screen;
mod view;

use std::io::{self, IsTerminal, Read};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use tokio::signal::unix::{SignalKind, signal};

use self::feed::Snapshot;
use self::screen::Screen;
use self::view::View;
use super::query::Agent;
use crate::exit::Exit;
use crate::problem::Problem;

/// Show a group live on the terminal, as one of its nodes sees it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    agent: Agent,
}

/// What makes the view change.
enum Event {
    /// The agent was asked.
    Seen(Result<Box<Snapshot>, String>),
    /// A key was pressed.
    Key(u8),
    /// The terminal has another size.
    Resized,
    /// A signal asks for the end.
    End,
}

impl Args {
    /// Shows it until it is told to end.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            let what = "top draws on a terminal, and there is none; nothing was shown. For pipes \
                        and files: tanist watch, or tanist members -o json";
            return Err(Problem::Usage(what.to_owned()).into());
        }
        // Before the screen changes, so that a wrong name is told where the user looks.
        drop(self.agent.connect()?);
        let (events, coming) = mpsc::channel();
        feed::start(self.agent.clone(), events.clone());
        listen_to_keys(events.clone());
        listen_to_signals(events)?;
        let mut screen = Screen::enter()?;
        show(&mut screen, &coming)
    }
}

fn show(screen: &mut Screen, coming: &Receiver<Event>) -> anyhow::Result<Exit> {
    let mut view = View::default();
    loop {
        let size = screen.size();
        screen.draw(&view.lines(size))?;
        match coming.recv() {
            Ok(Event::Seen(seen)) => view.see(seen),
            Ok(Event::Key(b'q')) => return Ok(Exit::Well),
            // Ctrl-C: in raw mode a key like any other.
            Ok(Event::Key(3)) => return Ok(Exit::Interrupted),
            Ok(Event::Key(key)) => view.press(key),
            Ok(Event::Resized) => {}
            Ok(Event::End) | Err(_) => return Ok(Exit::Interrupted),
        }
    }
}

fn listen_to_keys(events: Sender<Event>) {
    thread::spawn(move || {
        let mut keys = io::stdin().lock();
        let mut key = [0];
        while keys.read_exact(&mut key).is_ok() && events.send(Event::Key(key[0])).is_ok() {}
        // The terminal is gone, or the view is closed.
        let _ = events.send(Event::End);
    });
}

fn listen_to_signals(events: Sender<Event>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let entered = runtime.enter();
    let mut resized = signal(SignalKind::window_change())?;
    let mut ends = [
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
        signal(SignalKind::hangup())?,
    ];
    drop(entered);
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                let [term, interrupt, hangup] = &mut ends;
                let event = tokio::select! {
                    _ = resized.recv() => Event::Resized,
                    _ = term.recv() => Event::End,
                    _ = interrupt.recv() => Event::End,
                    _ = hangup.recv() => Event::End,
                };
                if events.send(event).is_err() {
                    return;
                }
            }
        });
    });
    Ok(())
}

const EXAMPLES: &str = "\
Keys: q quits, p pauses the view (and says so), w shows more, ? helps.

Examples:
  tanist top
  tanist top --node n3
  tanist top --socket /run/tanist/billing.sock

Exit codes:
  0 quit, 2 no terminal, 3 no agent there, 130 interrupted";
