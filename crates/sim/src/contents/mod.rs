//! What is stored on a virtual drive: only what was written takes memory.
