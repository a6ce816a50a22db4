//! Messages between nodes: what decodes is a message, and is written as what it is read as.

use tanist_core::wire;

/// Checks bytes as a frame's payload, and as a datagram's.
pub fn check(bytes: &[u8]) {
    let Ok(message) = wire::decode(bytes) else { return };
    let written = wire::encode(&message);
    assert_eq!(wire::decode(&written), Ok(message.clone()), "{message:?} is read differently");
    assert_eq!(wire::encode(&message), written, "{message:?} has two forms");
}
