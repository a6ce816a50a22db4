//! The entry of libFuzzer; what must hold is in the library, under the same name.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tanist_fuzz::http::check(bytes));
