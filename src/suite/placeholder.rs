//! Filling in `${…}` in arguments, variables and paths.

use super::keys::nearest;

/// What the placeholders stand for.
#[derive(Clone, Copy)]
pub struct Lookup<'a> {
    /// `${root}`: the package root of the revision that runs.
    pub root: &'a str,
    /// `${head_root}`: the package root of head, for files both revisions share.
    pub head_root: &'a str,
    /// `${workdir}`: a directory of this benchmark in the revision that runs; `None` where there is none.
    pub workdir: Option<&'a str>,
    /// `${env:NAME}`.
    pub env: &'a dyn Fn(&str) -> Option<String>,
}

impl std::fmt::Debug for Lookup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The environment may hold secrets.
        f.debug_struct("Lookup")
            .field("root", &self.root)
            .field("head_root", &self.head_root)
            .field("workdir", &self.workdir)
            .finish_non_exhaustive()
    }
}

/// Why a text with placeholders cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceholderError {
    /// `${` without `}`.
    #[error("`${{` has no closing `}}`; write `$${{` for a literal `${{`")]
    Unclosed,
    /// A name there is no placeholder of.
    #[error("`${{{name}}}` is unknown; {help}")]
    Unknown {
        /// The name between the braces.
        name: String,
        /// The nearest one, or all.
        help: String,
    },
    /// `${env:…}` with an impossible name.
    #[error("`${{env:{name}}}` does not name a variable; names are letters, digits and `_`")]
    BadVariable {
        /// The name behind the colon.
        name: String,
    },
    /// `${env:NAME}` of a variable that is not set.
    #[error("`${{env:{name}}}`: the variable is not set; set it, or take the placeholder out")]
    Unset {
        /// The variable.
        name: String,
    },
    /// `${workdir}` where there is none.
    #[error("`${{workdir}}` has no meaning here; it is there while a benchmark runs")]
    NoWorkdir,
}

/// The text with all placeholders filled in; `$${` becomes `${`.
pub fn expand(text: &str, lookup: &Lookup<'_>) -> Result<String, PlaceholderError> {
    walk(text, |placeholder| match placeholder {
        Placeholder::Root => Ok(lookup.root.to_owned()),
        Placeholder::HeadRoot => Ok(lookup.head_root.to_owned()),
        Placeholder::Workdir => lookup.workdir.map(str::to_owned).ok_or(PlaceholderError::NoWorkdir),
        Placeholder::Env(name) => {
            (lookup.env)(name).ok_or_else(|| PlaceholderError::Unset { name: name.to_owned() })
        }
    })
}

/// Whether all placeholders of the text are known; their values do not matter.
pub fn check(text: &str) -> Result<(), PlaceholderError> {
    walk(text, |_| Ok(String::new())).map(drop)
}

/// Whether that could be the name of an environment variable.
pub fn is_variable_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

enum Placeholder<'a> {
    Root,
    HeadRoot,
    Workdir,
    Env(&'a str),
}

const NAMES: [&str; 4] = ["root", "head_root", "workdir", "env:NAME"];

fn walk(
    text: &str,
    mut value: impl FnMut(Placeholder<'_>) -> Result<String, PlaceholderError>,
) -> Result<String, PlaceholderError> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            expanded.push_str(&rest[..at]);
            expanded.push('{');
            rest = &rest[at + 2..];
            continue;
        }
        expanded.push_str(&rest[..at]);
        let (name, behind) = rest[at + 2..].split_once('}').ok_or(PlaceholderError::Unclosed)?;
        expanded.push_str(&value(placeholder(name)?)?);
        rest = behind;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

fn placeholder(name: &str) -> Result<Placeholder<'_>, PlaceholderError> {
    Ok(match name {
        "root" => Placeholder::Root,
        "head_root" => Placeholder::HeadRoot,
        "workdir" => Placeholder::Workdir,
        _ => match name.strip_prefix("env:") {
            Some(variable) if is_variable_name(variable) => Placeholder::Env(variable),
            Some(variable) => return Err(PlaceholderError::BadVariable { name: variable.to_owned() }),
            None => {
                let help = match nearest(name, NAMES) {
                    Some(near) => format!("did you mean `${{{near}}}`?"),
                    None => "known are `${root}`, `${head_root}`, `${workdir}` and `${env:NAME}`".to_owned(),
                };
                return Err(PlaceholderError::Unknown { name: name.to_owned(), help });
            }
        },
    })
}
