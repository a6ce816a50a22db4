//! Clients of the control socket that hold connections and say nothing.
