//! Text from outside, made safe to show; the order people read names in; columns.

use std::cmp::Ordering;

use unicode_width::UnicodeWidthStr;

/// The text with everything that could drive a terminal, or reorder its line, written out as an escape.
pub fn visible(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        // At the start of a line, or anywhere, these are commands to the runner of a workflow that shows the line; any word
        // may come to stand at the start, where lines are wrapped.
        let starts_word = || text[..at].chars().next_back().is_none_or(char::is_whitespace);
        let is_command = character == ':' && text[at..].starts_with("::") && starts_word();
        if is_command || character == '[' && safe.ends_with("##") {
            safe.extend(character.escape_unicode());
        } else if character.is_control() || reorders(character) {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}

/// A word as a POSIX shell takes it: as it is, or in quotes.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Line separators and marks of direction: not control characters, and yet they move what follows.
fn reorders(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The text with its middle left out where it is longer than so many characters: names differ at their ends.
pub fn without_middle(text: &str, longest: usize) -> String {
    let count = text.chars().count();
    if count <= longest {
        return text.to_owned();
    }
    let kept = longest.saturating_sub(1);
    let (start, end) = (kept - kept / 2, kept / 2);
    text.chars().take(start).chain(['…']).chain(text.chars().skip(count - end)).collect()
}

/// Columns a text takes on a terminal.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text filled up to so many columns at its right.
pub fn pad_right(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text filled up to so many columns at its left.
pub fn pad_left(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The words of a text in lines of at most so many columns; a longer word has a line of its own.
pub fn wrap(text: &str, columns: Option<usize>) -> Vec<String> {
    let Some(columns) = columns else { return vec![text.to_owned()] };
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Numbers inside names by their value: `size/2` before `size/10`.
pub fn natural_order(left: &str, right: &str) -> Ordering {
    let (mut a, mut b) = (left, right);
    loop {
        let order = match (a.chars().next(), b.chars().next()) {
            (None, _) | (_, None) => return a.len().cmp(&b.len()).then_with(|| left.cmp(right)),
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let (m, n) = (take_number(&mut a), take_number(&mut b));
                m.len().cmp(&n.len()).then_with(|| m.cmp(n))
            }
            (Some(x), Some(y)) => {
                (a, b) = (&a[x.len_utf8()..], &b[y.len_utf8()..]);
                x.cmp(&y)
            }
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Takes the leading digits off, and gives them without leading zeros.
fn take_number<'a>(text: &mut &'a str) -> &'a str {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    *text = rest;
    number.trim_start_matches('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_written_out_and_other_text_is_kept() {
        assert_eq!(visible("\u{1b}[31mred\n\ttab\u{7}\u{9b}"), "\\u{1b}[31mred\\n\\ttab\\u{7}\\u{9b}");
        assert_eq!(visible("a\u{202e}b\u{2028}"), "a\\u{202e}b\\u{2028}");
        assert_eq!(visible("a\u{61c}b"), "a\\u{61c}b");
        assert_eq!(visible("::error::x ##[error]y a::b"), "\\u{3a}:error::x ##\\u{5b}error]y a::b");
        assert_eq!(visible(" ::x ::y a::b"), " \\u{3a}:x \\u{3a}:y a::b");
        assert_eq!(visible("grp/🦀 café \"x\" \\ '"), "grp/🦀 café \"x\" \\ '");
    }

    #[test]
    fn long_text_keeps_both_its_ends() {
        assert_eq!(without_middle("abcdefgh", 8), "abcdefgh");
        assert_eq!(without_middle("abcdefghi", 8), "abcd…ghi");
        assert_eq!(without_middle("ééééé", 3), "é…é");
        assert_eq!(without_middle("ab", 0), "…");
    }

    #[test]
    fn names_sort_as_people_read_them() {
        let mut names = [
            "size/10",
            "size/2",
            "size/1000",
            "size/02",
            "Size/1",
            "size",
            "size/2a",
            "size/9999999999999999999999",
        ];
        names.sort_by(|a, b| natural_order(a, b));
        let read = [
            "Size/1",
            "size",
            "size/02",
            "size/2",
            "size/2a",
            "size/10",
            "size/1000",
            "size/9999999999999999999999",
        ];
        assert_eq!(names, read);
    }

    #[test]
    fn columns_count_what_a_terminal_shows() {
        assert_eq!(width("🦀é"), 3);
        assert_eq!(pad_right("🦀", 4), "🦀  ");
        assert_eq!(pad_left("µs", 4), "  µs");
        assert_eq!(wrap("a bb ccc dddddddd e", Some(4)), ["a bb", "ccc", "dddddddd", "e"]);
    }
}
