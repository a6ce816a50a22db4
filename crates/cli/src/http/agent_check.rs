//! HAProxy's agent check: each connection gets one line that says whether to send requests here.
//!
//! HAProxy's agent lines change a server's state and leave it changed, so a line always says both
//! words: `up ready` or `up maint`. A server in maintenance is not down, and raises no alarm. With
//! `agent-send "member\n"` it is asked whether the node is a member instead of whether it is the
//! active leader.

use std::sync::Arc;
use std::time::Duration;

use tanist::transport::Throttle;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::limits::{Slot, Stage};
use super::{Site, health};

/// Answers one connection.
pub(super) async fn answer(mut stream: TcpStream, site: Arc<Site>, slot: Slot) {
    let asked = question(&mut stream).await;
    slot.reached(Stage::Answering);
    let is_in_use = match asked.as_deref() {
        None | Some("" | "leader") => site.agent.activity().active().is_some(),
        Some("member") => health::is_member(&site),
        Some(other) => {
            if let Some(held_back) = UNKNOWN.pass() {
                tracing::warn!(
                    held_back,
                    "the agent check was asked for `{other}`; it knows leader and member"
                );
            }
            false
        }
    };
    let line: &[u8] = if is_in_use { b"up ready\n" } else { b"up maint\n" };
    let told = async {
        stream.write_all(line).await?;
        stream.shutdown().await?;
        slot.reached(Stage::Answered);
        // Closing on what was not read would reset the connection, and with it the answer.
        let mut rest = [0; QUESTION_MAX];
        while stream.read(&mut rest).await? > 0 {}
        Ok::<(), std::io::Error>(())
    };
    // A client that does not take a line of nine bytes does not want it.
    let _ = timeout(LINE_MAX, told).await;
}

/// What is asked, if anything is asked soon. HAProxy asks nothing by default, and then waits.
async fn question(stream: &mut TcpStream) -> Option<String> {
    let mut line = Vec::with_capacity(QUESTION_MAX);
    let read = async {
        while line.len() < QUESTION_MAX && !line.contains(&b'\n') {
            let mut byte = [0; QUESTION_MAX];
            let room = QUESTION_MAX - line.len();
            match stream.read(&mut byte[..room]).await {
                Ok(count) if count > 0 => line.extend_from_slice(&byte[..count]),
                Ok(_) | Err(_) => break,
            }
        }
    };
    // However it ends, what came is the question.
    let _ = timeout(QUESTION_WAIT, read).await;
    let text = String::from_utf8_lossy(&line);
    text.lines().next().map(|line| line.trim().escape_default().to_string())
}

/// Questions that it does not know.
static UNKNOWN: Throttle = Throttle::new();

/// No role has a longer name.
const QUESTION_MAX: usize = 64;
/// HAProxy sends its question right behind the connection, if it has one.
const QUESTION_WAIT: Duration = Duration::from_millis(250);
/// For the answer and the end of the connection.
const LINE_MAX: Duration = Duration::from_secs(1);
