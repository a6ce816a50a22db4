//! What lies behind an error: the types inside of [`StartError`](crate::StartError),
//! [`Failure`](crate::Failure), [`PeerError`](crate::PeerError) and
//! `SetupError` of the simulation, for programs that tell causes apart.

pub use tanist_core::config::ConfigError;
pub use tanist_core::membership::{
    DuplicateName, HierarchyError, LabelError, MembershipError, NodeNameError,
};
pub use tanist_core::options::OptionError;
pub use tanist_core::policy::PreemptError;
pub use tanist_core::timing::TimingError;

pub use crate::private_file::PrivateFileError;
pub use crate::store::record::DecodeError;
pub use crate::store::{DiskError, OpenError, SaveError};
pub use crate::transport::{BindError, StartError as TransportError};
