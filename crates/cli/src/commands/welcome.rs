//! `tanist` alone: what it is, two examples, where help is.

use crate::exit::Exit;
use crate::terminal::output;

/// Says hello.
pub(crate) fn run() -> anyhow::Result<Exit> {
    output::print(TEXT)?;
    Ok(Exit::Well)
}

const TEXT: &str = "\
tanist lets processes agree who leads them, without a store beside them: Bully, Invitation and
their kin, live, and in a simulator where the same seed gives the same run.

  tanist dev                              five real processes with a leader; kill it and watch
  tanist sim run bully-figure-10-8        one election, message by message

What else there is: tanist --help
About one command:  tanist sim run --help
";
