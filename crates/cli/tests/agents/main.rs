//! Tests that start agents: real processes, their sockets, files, jobs and hooks.

mod live;

use live::group;
