//! The pre-push hook: where git looks for it, and only where no other is.

use std::path::PathBuf;

use super::change::Change;
use crate::error::Error;
use crate::revision::Repository;
use crate::ui::Ui;

const SCRIPT: &str = include_str!("templates/pre-push.sh");

/// What our hooks have in their second line, whatever version wrote them.
const MARK: &str = "# benchgate pre-push hook";

/// What to put into a hook that is somebody else's.
const LINE: &str =
    "cargo benchgate hook pre-push --time-cap 5m --max-time 2m --allow-partial || [ $? -ne 1 ] || exit 1";

/// What is there in the hook's place.
enum There {
    Nothing,
    /// Ours, as it was written.
    Ours,
    /// Ours, and edited since.
    Edited,
    /// Another.
    Foreign(String),
}

/// The hook, ready to be written.
///
/// # Errors
///
/// Where another hook is, or the directory is that of several repositories.
pub(super) fn install(repository: &Repository, force: bool) -> Result<Change, Error> {
    let (path, is_own, is_configured) = place(repository)?;
    if !is_own && !force {
        return Err(Error::Usage(format!(
            "core.hooksPath is {}, which lies outside this repository, so the hook would run for others too; nothing is written. \
             Put this line into its pre-push hook, or use --force: {LINE}",
            path.parent().unwrap_or(&path).display()
        )));
    }
    let because = if is_configured { " (core.hooksPath names its directory)" } else { "" };
    match there(&path)? {
        There::Foreign(_) if !force => Err(Error::Usage(format!(
            "another pre-push hook is there: {}{because}; it is left alone. Add this line to it, before anything that reads standard \
             input: {LINE}",
            path.display()
        ))),
        There::Edited if !force => Err(Error::Usage(format!(
            "the hook {} was edited since it was installed, and is left alone; --force writes it anew",
            path.display()
        ))),
        _ => Ok(Change { path, after: Some(SCRIPT.to_owned()), is_edit: true, is_executable: true }),
    }
}

/// The removal of the hook; `None` where ours is not there.
///
/// # Errors
///
/// Where it was edited, or another hook calls us.
pub(super) fn remove(repository: &Repository, force: bool, ui: &Ui) -> Result<Option<Change>, Error> {
    let (path, ..) = place(repository)?;
    match there(&path)? {
        There::Nothing => {
            ui.note(format!("there is no hook {}", path.display()));
            Ok(None)
        }
        There::Edited if !force => Err(Error::Usage(format!(
            "the hook {} was edited since it was installed; --force removes it all the same",
            path.display()
        ))),
        There::Ours | There::Edited => {
            Ok(Some(Change { path, after: None, is_edit: true, is_executable: false }))
        }
        There::Foreign(text) if text.contains("benchgate hook pre-push") => Err(Error::Usage(format!(
            "the hook {} is not ours, and calls `cargo benchgate hook pre-push`; take that line out by hand",
            path.display()
        ))),
        There::Foreign(_) => {
            ui.note(format!("the hook {} is another one, and is left alone", path.display()));
            Ok(None)
        }
    }
}

fn place(repository: &Repository) -> Result<(PathBuf, bool, bool), Error> {
    let hooks = repository.hooks()?;
    Ok((hooks.directory.join("pre-push"), hooks.is_own, hooks.is_configured))
}

fn there(path: &std::path::Path) -> Result<There, Error> {
    match fs_err::read(path) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let is_ours = text.lines().nth(1).is_some_and(|line| line.starts_with(MARK));
            Ok(match is_ours {
                true if text == SCRIPT => There::Ours,
                true => There::Edited,
                false => There::Foreign(text),
            })
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(There::Nothing),
        Err(error) => Err(Error::Execution(format!("failed to read the hook that is there: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_bears_the_mark_it_is_known_by() {
        assert!(SCRIPT.lines().nth(1).is_some_and(|line| line.starts_with(MARK)));
        assert!(SCRIPT.starts_with("#!/bin/sh\n"));
    }
}
