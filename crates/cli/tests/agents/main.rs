//! Tests that start agents: real processes, their sockets, files, jobs and hooks.

mod adhoc;
mod job;
mod live;

use adhoc::namespaces;
use job::home;
use live::group;
