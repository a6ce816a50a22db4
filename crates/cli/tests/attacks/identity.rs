//! Two processes with one id, and peers that refuse this node.
