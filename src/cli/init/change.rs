//! Files to be written or removed: shown as a difference, or carried out, all or none.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::report::text::visible;
use crate::report::write::write_file;
use crate::ui::{self, Ui};

/// One file that is to become another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// Where it is.
    pub(super) path: PathBuf,
    /// What is to be in it; `None`: it is to go.
    pub(super) after: Option<String>,
    /// Whether what is there was read and is kept, so that nothing is lost.
    pub(super) is_edit: bool,
    /// Whether it is a program.
    pub(super) is_executable: bool,
}

impl Change {
    /// A file that is written as a whole.
    pub(super) fn file(path: PathBuf, content: String) -> Self {
        Self { path, after: Some(content), is_edit: false, is_executable: false }
    }
}

/// Shows the changes, or makes them. Files that are there and differ are an error that names all of them, before
/// anything is written.
pub(super) fn carry_out(changes: &[Change], dry_run: bool, force: bool, ui: &Ui) -> Result<(), Error> {
    let mut found = Vec::new();
    for change in changes {
        found.push((change, read(&change.path)?));
    }
    if dry_run {
        let text: String =
            found.iter().map(|(change, before)| difference(change, before.as_deref())).collect();
        return ui::print(text.as_bytes())
            .map_err(|error| Error::Execution(format!("failed to write the preview to stdout: {error}")));
    }
    let in_the_way: Vec<String> = found
        .iter()
        .filter(|(change, before)| !change.is_edit && before.is_some() && *before != change.after && !force)
        .map(|(change, _)| change.path.display().to_string())
        .collect();
    if !in_the_way.is_empty() {
        return Err(Error::Usage(format!(
            "nothing is written: {} is there already and differs; --dry-run shows how, --force overwrites it",
            in_the_way.join(" and ")
        )));
    }
    for (change, before) in found {
        make(change, before.as_deref(), ui)?;
    }
    Ok(())
}

fn make(change: &Change, before: Option<&str>, ui: &Ui) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::Execution(format!("failed to write: {error}"));
    let Some(after) = &change.after else {
        fs_err::remove_file(&change.path).map_err(failed)?;
        ui.status("Removed", change.path.display());
        return Ok(());
    };
    if before == Some(after.as_str()) {
        ui.status("Unchanged", change.path.display());
        return Ok(());
    }
    if let Some(directory) = change.path.parent() {
        fs_err::create_dir_all(directory).map_err(failed)?;
    }
    write_file(&change.path, after.as_bytes()).map_err(|error| Error::Execution(error.to_string()))?;
    if change.is_executable {
        make_executable(&change.path).map_err(failed)?;
    }
    ui.status("Wrote", change.path.display());
    Ok(())
}

fn read(path: &Path) -> Result<Option<String>, Error> {
    match fs_err::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::Execution(format!("failed to read what is there: {error}"))),
    }
}

#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

/// One change as `diff` shows it: the lines between the common beginning and the common end.
fn difference(change: &Change, before: Option<&str>) -> String {
    let lines = |text: Option<&str>| -> Vec<String> { text.unwrap_or("").lines().map(visible).collect() };
    let (old, new) = (lines(before), lines(change.after.as_deref()));
    let common =
        |pairs: &mut dyn Iterator<Item = (&String, &String)>| pairs.take_while(|(a, b)| a == b).count();
    let start = common(&mut old.iter().zip(&new));
    let end = common(&mut old[start..].iter().rev().zip(new[start..].iter().rev()));
    let (gone, added) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let name = |is_there: bool| match is_there {
        true => change.path.display().to_string(),
        false => "/dev/null".to_owned(),
    };
    let mut text = format!("--- {}\n+++ {}\n", name(before.is_some()), name(change.after.is_some()));
    if gone.is_empty() && added.is_empty() {
        return text;
    }
    // Of no lines, the line before them is named.
    let from = |lines: &[String]| start + usize::from(!lines.is_empty());
    let _ = writeln!(text, "@@ -{},{} +{},{} @@", from(gone), gone.len(), from(added), added.len());
    for (sign, lines) in [('-', gone), ('+', added)] {
        for line in lines {
            let _ = writeln!(text, "{sign}{line}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: Option<&str>, after: Option<&str>) -> String {
        let change = Change {
            path: "f".into(),
            after: after.map(str::to_owned),
            is_edit: false,
            is_executable: false,
        };
        difference(&change, before)
    }

    #[test]
    fn preview_shows_the_lines_that_change_and_no_others() {
        assert_eq!(shown(Some("a\nb\nc\n"), Some("a\nB\nc\n")), "--- f\n+++ f\n@@ -2,1 +2,1 @@\n-b\n+B\n");
        assert_eq!(shown(Some("a\n"), Some("a\nb\n")), "--- f\n+++ f\n@@ -1,0 +2,1 @@\n+b\n");
        assert_eq!(shown(None, Some("a\n")), "--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(shown(Some("a\n"), None), "--- f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n");
        assert_eq!(shown(Some("a\n"), Some("a\n")), "--- f\n+++ f\n");
    }
}
