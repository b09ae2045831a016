//! What sysfs tells of a drive.
