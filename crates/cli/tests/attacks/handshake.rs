//! Replayed and unfinished handshakes at the peer port.
