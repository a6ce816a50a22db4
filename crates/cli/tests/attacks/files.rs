//! Files and directories that other users can change, and paths that are not what they should be.
