//! Partition tables and file systems, known by their magic numbers.
