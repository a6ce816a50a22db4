//! Questions between the programs around nodes: over the links, beside the election.

use std::time::Duration;

use tanist_core::NodeId;
use tokio::sync::{mpsc, oneshot};

use crate::driver::Request;
use crate::group::Group;
use crate::transport::question::{AskError, Question};

impl Group {
    /// Asks the program of a peer, over the link with it, and waits at most so long.
    ///
    /// The election takes no notice of it. A peer of a release without questions is known to be
    /// [`AskError::TooOld`].
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn example(group: tanist::Group, peer: tanist::NodeId) {
    /// match group.ask_peer(peer, b"version".to_vec(), Duration::from_secs(1)).await {
    ///     Ok(answer) => println!("{peer}: {}", String::from_utf8_lossy(&answer)),
    ///     Err(error) => println!("{peer}: {error}"),
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// If no answer came, and why as far as that is known.
    pub async fn ask_peer(
        &self,
        peer: NodeId,
        question: Vec<u8>,
        limit: Duration,
    ) -> Result<Vec<u8>, AskError> {
        let (reply, answer) = oneshot::channel();
        let request = Request::Ask { to: peer, question, reply };
        self.requests.send(request).map_err(|_| AskError::Stopped)?;
        match tokio::time::timeout(limit, answer).await {
            Ok(Ok(answer)) => answer,
            // The node has stopped, and the slot is gone with it.
            Ok(Err(_)) => Err(AskError::Stopped),
            Err(_) => Err(AskError::Silent),
        }
    }

    /// The questions of peers, from here on. The last caller gets them. None if the node
    /// has stopped; with a radio none come.
    pub async fn questions(&self) -> Option<Questions> {
        let (reply, questions) = oneshot::channel();
        self.requests.send(Request::Questions(reply)).ok()?;
        questions.await.ok().map(|questions| Questions { questions })
    }
}

/// The questions of peers as they come.
#[derive(Debug)]
pub struct Questions {
    questions: mpsc::Receiver<Question>,
}

impl Questions {
    /// The next question; none when the node has stopped, or another receiver gets them.
    pub async fn next(&mut self) -> Option<Question> {
        self.questions.recv().await
    }
}
