//! Nodes of one group with different settings.
