//! What a package brings beside the program: completions and man pages, complete and readable by what they are for.

use crate::program::*;
use std::process::{Command, Stdio};

/// Names of all commands, as the front page of help lists them.
fn commands(home: &Home) -> Vec<String> {
    let page = home.print(&["--help"]);
    let listed = page.lines().take_while(|line| !line.starts_with("Examples"));
    let rows = listed.filter_map(|line| line.strip_prefix("  "));
    rows.filter_map(|row| row.split(' ').next()).map(str::to_owned).collect()
}

fn must_pass(shell: &mut Command, test: &str) {
    match shell.stdin(Stdio::null()).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => skip(test, &format!("{shell:?}: {error}")),
    }
}

#[test]
fn completions_have_every_command() {
    let home = Home::new();
    let commands = commands(&home);
    assert!(commands.len() > 25 && commands.iter().any(|name| name == "check"), "{commands:?}");
    for shell in ["bash", "zsh", "fish"] {
        let script = home.print(&["completions", shell]);
        for name in &commands {
            assert!(script.contains(name), "{shell} knows nothing of {name}");
        }
        assert!(script.contains("confirm"), "{shell} knows the options");
        let path = home.folder.path().join(shell);
        std::fs::write(&path, &script).expect("a script");
        must_pass(Command::new(shell).arg("-n").arg(&path), "completions_have_every_command");
    }
    assert_eq!(home.run(&["completions", "command.com"]).status, Some(2));
}

#[test]
fn bash_completes_a_command_and_an_option() {
    let home = Home::new();
    let path = home.folder.path().join("script");
    std::fs::write(&path, home.print(&["completions", "bash"])).expect("a script");
    for (words, expected) in [("drivescope sust", "sustain"), ("drivescope check --destr", "--destroy-data")]
    {
        let count = words.split(' ').count() - 1;
        let (last, previous) = (words.split(' ').nth(count), words.split(' ').nth(count - 1));
        let script = format!(
            ". {}; COMP_WORDS=({words}); COMP_CWORD={count}; _drivescope drivescope {} {}; echo \"${{COMPREPLY[*]}}\"",
            path.display(),
            last.expect("a word"),
            previous.expect("a word"),
        );
        let output = Command::new("bash").args(["-c", &script]).output().expect("bash is there");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected, "{words}: {output:?}");
    }
}

#[test]
fn each_command_has_a_man_page() {
    let home = Home::new();
    let folder = home.folder.path().join("new/man1");
    home.print(&["man", folder.to_str().expect("a plain path")]);
    let names = names_in(&folder);
    for name in commands(&home) {
        assert!(names.contains(&format!("drivescope-{name}.1")), "{name}: {names:?}");
    }
    for name in ["drivescope.1", "drivescope-sim-mount.1"] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    let page = std::fs::read_to_string(folder.join("drivescope-check.1")).expect("a page");
    assert!(page.contains("Check a drive or file in a minute") && page.contains("destroy"), "{page}");
    let shown =
        Command::new("man").args(["--warnings", "-l"]).arg(folder.join("drivescope-check.1")).output();
    match shown {
        Ok(output) => assert_eq!(String::from_utf8_lossy(&output.stderr), "", "man complains"),
        Err(error) => skip("each_command_has_a_man_page", &error.to_string()),
    }
    let outcome = home.run(&["man", "/proc/none"]);
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.err.contains("cannot make the folder /proc/none"), "{}", outcome.err);
}
