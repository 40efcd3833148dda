//! Compiles the tokenizer's rules (`scanner/grammar`) into the tables that `src/text/tokenize` scans with.

use std::{env, fs, path::Path};

#[path = "scanner/compile.rs"]
mod compile;
#[path = "scanner/grammar/mod.rs"]
mod grammar;
#[path = "scanner/outcome.rs"]
mod outcome;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=scanner");
    let folder = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let tables = compile::tables(&grammar::rules());
    fs::write(Path::new(&folder).join("scanner_tables.rs"), tables).expect("cannot write the scanner's tables");
}
