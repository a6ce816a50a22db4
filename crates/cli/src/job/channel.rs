//! Lines of JSON over a local socket, with descriptors beside them.
//!
//! It assumes that a line with descriptors is answered before the next such line is sent, so that
//! it does not matter which descriptor came with which line. Reading may be given up at any
//! moment and begun again: nothing that arrived is lost.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::Interest;
use tokio::net::UnixStream;

/// One end of a conversation.
#[derive(Debug)]
pub(crate) struct Channel {
    stream: UnixStream,
    unread: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

impl Channel {
    /// Over this socket.
    pub(crate) const fn new(stream: UnixStream) -> Self {
        Self { stream, unread: Vec::new(), descriptors: Vec::new() }
    }

    /// The same, after these bytes were read from it.
    pub(crate) const fn after(stream: UnixStream, unread: Vec<u8>) -> Self {
        Self { stream, unread, descriptors: Vec::new() }
    }

    /// Says something, and hands descriptors over with it.
    pub(crate) async fn put(
        &self,
        what: &impl Serialize,
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        let mut rest = line.as_slice();
        let mut descriptors = descriptors;
        while !rest.is_empty() {
            let sent =
                self.stream.async_io(Interest::WRITABLE, || send(&self.stream, rest, descriptors));
            rest = &rest[sent.await?..];
            // They went with the first byte.
            descriptors = &[];
        }
        Ok(())
    }

    /// The next thing that the other side says; none when it has gone.
    pub(crate) async fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            if self.unread.len() > LINE_MAX {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a line without an end"));
            }
            let Self { stream, unread, descriptors } = self;
            let read = stream.async_io(Interest::READABLE, || receive(stream, unread, descriptors));
            if read.await? == 0 {
                return Ok(None);
            }
        }
    }

    /// The descriptors that came so far.
    pub(crate) fn descriptors(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.descriptors)
    }

    /// The socket itself.
    pub(crate) fn socket(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn send(stream: &UnixStream, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); ANCILLARY_BYTES];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many descriptors at once"));
    }
    Ok(sendmsg(stream, &[IoSlice::new(bytes)], &mut beside, SendFlags::NOSIGNAL)?)
}

fn receive(
    stream: &UnixStream,
    unread: &mut Vec<u8>,
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut bytes = [0; 4096];
    let mut space = [MaybeUninit::uninit(); ANCILLARY_BYTES];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    // Closed on exec: what a job holds by accident would look alive after it.
    let flags = RecvFlags::CMSG_CLOEXEC;
    let read = recvmsg(stream, &mut [IoSliceMut::new(&mut bytes)], &mut beside, flags)?.bytes;
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    unread.extend_from_slice(&bytes[..read]);
    Ok(read)
}

/// Room for four descriptors, of which three are ever sent.
const ANCILLARY_BYTES: usize = rustix::cmsg_space!(ScmRights(4));

/// No line is longer.
const LINE_MAX: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[tokio::test]
    async fn what_was_read_before_is_not_lost() {
        let (one, two) = UnixStream::pair().unwrap();
        Channel::new(one).put(&"second", &[]).await.unwrap();
        let mut two = Channel::after(two, b"\"first\"\n".to_vec());
        assert_eq!(two.next::<String>().await.unwrap().as_deref(), Some("first"));
        assert_eq!(two.next::<String>().await.unwrap().as_deref(), Some("second"));
    }

    #[tokio::test]
    async fn a_descriptor_comes_with_its_line_and_works() {
        let (one, two) = UnixStream::pair().unwrap();
        let (ours, mut other) = std::os::unix::net::UnixStream::pair().unwrap();
        let one = Channel::new(one);
        let mut two = Channel::new(two);
        one.put(&"first", &[ours.as_fd()]).await.unwrap();
        one.put(&"x".repeat(10_000), &[]).await.unwrap();
        drop((one, ours));
        assert_eq!(two.next::<String>().await.unwrap().as_deref(), Some("first"));
        let mut received = two.descriptors();
        assert_eq!(received.len(), 1);
        let mut passed = std::os::unix::net::UnixStream::from(received.remove(0));
        passed.write_all(b"!").unwrap();
        drop(passed);
        let mut heard = String::new();
        other.read_to_string(&mut heard).unwrap();
        assert_eq!(heard, "!");
        assert_eq!(two.next::<String>().await.unwrap().map(|line| line.len()), Some(10_000));
        assert_eq!(two.next::<String>().await.unwrap(), None);
    }
}
