//! How a node reaches neighbours that it was not told of: see [`Builder::radio`](crate::Builder::radio).

pub use crate::transport::radio::{AntennaError, Cast, CastError, Interfaces, Reach};
