//! The commands of the program, each as a user has it. One test program, since linking one takes seconds.

mod access;
mod bad_input;
mod choose;
mod commit;
mod configuration;
mod contract;
mod documents;
mod dry_run;
mod exports;
mod files;
mod imported;
mod kill_minus_nine;
mod ledger;
mod lost_device;
mod monitoring;
mod old_systems;
mod packaging;
mod ping;
mod planning;
mod power_cut;
#[path = "../program/mod.rs"]
mod program;
mod purge;
mod resume;
mod run_plan;
mod schemas;
mod scripting;
mod serve;
#[path = "../../../store/tests/store_support/mod.rs"]
mod store_support;
mod verdict;
mod verify;
mod virtual_drives;
