//! drivescope
fn main() {}
