//! Tests that start agents: real processes, their sockets, files, jobs and hooks.

mod job;
mod live;

use job::home;
use live::group;
