//! `tanist` alone: what it is, two examples, where help is.

use crate::exit::Exit;
use crate::output;

/// Says hello.
pub(crate) fn run() -> anyhow::Result<Exit> {
    output::print(TEXT)?;
    Ok(Exit::Well)
}

const TEXT: &str = "\
tanist elects a coordinator among nodes that crash, come back and lose sight of each other:
Bully, Invitation and their kin, in a simulator where the same seed gives the same run.

  tanist sim run bully-figure-10-8        one election, message by message
  tanist sim sweep bully --nodes 2..64    messages and time against theory

What else there is: tanist --help
About one command:  tanist sim run --help
";
