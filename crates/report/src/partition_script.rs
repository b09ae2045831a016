//! A partition plan as a script for sfdisk, on paper: the program never runs it.

use crate::hostile::harmless;
use crate::quantity::size;
use crate::terminal::PartitionPage;

/// The longest name of a drive in a comment.
const NAME_COLUMNS_MAX: usize = 60;

/// The script: a GPT, with starts and sizes in logical blocks. Comments say what it does to what is on the drive.
pub fn script(plan: &PartitionPage) -> String {
    let block = plan.logical_block.0.max(1);
    let drive = plain(&plan.drive);
    let mut lines = vec![
        format!("# For {drive}, {}, in sectors of {}.", size(plan.capacity), size(plan.logical_block)),
        "# It replaces the partition table: EVERYTHING ON THE DRIVE IS LOST.".to_owned(),
        "# Look at what it would do first: sfdisk --no-act /dev/DRIVE < THIS-FILE".to_owned(),
        "label: gpt".to_owned(),
        "unit: sectors".to_owned(),
    ];
    for partition in &plan.partitions {
        lines.push(format!(
            "start={}, size={}, type=linux, name=\"{}\"",
            partition.range.first().0 / block,
            partition.range.bytes().0 / block,
            partition.name
        ));
    }
    lines.join("\n") + "\n"
}

/// A drive's name as a comment can hold it: one line of plain ASCII.
fn plain(name: &str) -> String {
    let shown = harmless(name, NAME_COLUMNS_MAX);
    shown.chars().map(|character| if character.is_ascii() { character } else { '?' }).collect()
}
