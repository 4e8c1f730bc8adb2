//! Pages that show commands with what they print, as blocks of `console`.

/// The commands of a page in order, each with the lines that it shows.
pub(crate) fn shown(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    for block in page.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").expect("a block is closed");
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => commands.push((command, Vec::new())),
                None => commands.last_mut().expect("a command").1.push(line),
            }
        }
    }
    commands
}

/// A line without the time that a run took.
fn timeless(line: &str) -> &str {
    match line.rsplit_once("; ") {
        Some((line, time)) if time.ends_with(" s") => line,
        _ => line,
    }
}

/// Checks that a command printed these lines; `…` stands for lines that are left out.
pub(crate) fn check(command: &str, lines: &[&str], printed: &str) {
    let mut rest: Vec<&str> = printed.lines().map(timeless).collect();
    let lines: Vec<&str> = lines.iter().copied().map(timeless).collect();
    let mut parts = lines.split(|line| *line == "…").peekable();
    let first = parts.next().expect("a split has a part");
    assert!(rest.starts_with(first), "{command}:\n{printed}");
    rest.drain(..first.len());
    match parts.next() {
        None => assert!(rest.is_empty(), "{command}:\n{printed}"),
        Some(last) => assert!(rest.ends_with(last), "{command}:\n{printed}"),
    }
    assert!(parts.next().is_none(), "one `…` in an output");
}
