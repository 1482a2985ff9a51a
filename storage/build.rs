//! The macro that embeds the migrations can't see that one of them changed; this makes cargo look.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
