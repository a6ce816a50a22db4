//! The program `tanist`; all of it is in the library.

fn main() -> std::process::ExitCode {
    tanist_cli::main()
}
