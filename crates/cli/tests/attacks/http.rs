//! HTTP clients that hold every place: long polls, slow readers, slow writers, huge heads.
