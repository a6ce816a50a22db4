//! A client that keeps connecting to the virtual address, and what it sees over time.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::path::PathBuf;

use super::VIP;
use super::machines::Machines;
use crate::support::agent::Process;
use crate::support::wait::{LIMIT, within};

/// Connects, reads the name of the machine, writes `MILLISECONDS NAME` or `MILLISECONDS -`, and
/// again. A connection has a quarter of a second.
const CLIENT: &str = r#"
use IO::Socket::INET; use Socket qw(SOL_SOCKET SO_RCVTIMEO); use Time::HiRes qw(time sleep);
$| = 1;
while (1) {
    my $to = IO::Socket::INET->new(PeerAddr => $ARGV[0], PeerPort => 9000, Timeout => 0.25);
    my $answer;
    if ($to) {
        setsockopt($to, SOL_SOCKET, SO_RCVTIMEO, pack('l!l!', 0, 250_000));
        $answer = <$to>;
    }
    $answer = "-\n" unless defined $answer;
    printf "%d %s", time * 1000, $answer;
    sleep 0.02;
}
"#;

/// A machine of its own that keeps connecting.
pub(super) struct Client {
    /// The number of its machine.
    pub(super) at: usize,
    file: PathBuf,
    _process: Process,
}

impl Client {
    pub(super) fn start(machines: &Machines, at: usize) -> Self {
        let file = machines.fleet.file(&format!("client{at}"));
        let to = OpenOptions::new().create(true).append(true).open(&file).unwrap();
        let mut command = machines.switch.command(at, "perl");
        let process = Process::start(command.args(["-e", CLIENT, VIP]).stdout(to));
        Self { at, file, _process: process }
    }

    /// Waits until new connections reach this machine.
    pub(super) fn reaches(&self, name: &str) {
        let before = self.answers().len();
        let look = || {
            let answers = self.answers();
            let new = answers.get(before..).unwrap_or_default();
            // The first may have begun before it was asked.
            (new.len() > 3 && new.iter().rev().take(3).all(|(_, last)| last == name)).then_some(())
        };
        within(LIMIT, look, || format!("{name} answers client {}:\n{}", self.at, self.timeline()));
    }

    /// How many connections it has made.
    pub(super) fn count(&self) -> usize {
        self.answers().len()
    }

    /// Fails if a connection after so many was answered by this machine once another one had
    /// answered.
    pub(super) fn never_returns_to(&self, name: &str, after: usize) {
        let answers = self.answers();
        let since = answers[after..].iter().map(|(_, answer)| answer.as_str());
        let after_another = since.skip_while(|answer| *answer == name || *answer == "-");
        let has_returned = after_another.into_iter().any(|answer| answer == name);
        assert!(!has_returned, "client {} is back at {name}:\n{}", self.at, self.timeline());
    }

    /// Everything that it saw, one line for each run of equal answers.
    pub(super) fn timeline(&self) -> String {
        let answers = self.answers();
        let Some((begun, _)) = answers.first().cloned() else { return String::new() };
        let mut text = String::new();
        for run in answers.chunk_by(|(_, one), (_, other)| one == other) {
            let (from, to) = (run[0].0 - begun, run[run.len() - 1].0 - begun);
            let who = match run[0].1.as_str() {
                "-" => "no answer",
                name => name,
            };
            let (from, to, count) = (seconds(from), seconds(to), run.len());
            writeln!(text, "{from:>9} to {to:>9}  {who:<10} {count} connections").unwrap();
        }
        text
    }

    /// When each connection ended, and the machine that answered.
    fn answers(&self) -> Vec<(u64, String)> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        let complete = text.rfind('\n').map_or(0, |end| end + 1);
        let line = |line: &str| {
            let (at, name) = line.split_once(' ')?;
            Some((at.parse().ok()?, name.to_owned()))
        };
        text[..complete].lines().filter_map(line).collect()
    }
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03}s", milliseconds / 1000, milliseconds % 1000)
}
