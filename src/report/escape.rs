//! Text from outside made harmless for each format: Markdown, HTML, XML, workflow commands, shell words.

use super::text::visible;

/// Splits what a page would turn into a mention, a link or an emoji, and shows nothing itself.
const BREAK: &str = "<!-- -->";

/// Text as Markdown prose, also inside a table: nothing in it is markup, a mention, a link or a reference.
pub fn markdown(text: &str) -> String {
    let text = visible(text);
    let mut safe = String::with_capacity(text.len());
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|&(_, next)| next);
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '|' => safe.push_str("&#124;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '$' | '!' => {
                safe.push('\\');
                safe.push(character);
            }
            '@' => {
                safe.push('@');
                safe.push_str(BREAK);
            }
            '#' | ':' if next.is_some_and(|next| !next.is_whitespace()) => {
                safe.push(character);
                safe.push_str(BREAK);
            }
            '.' if text[..at].to_ascii_lowercase().ends_with("www") => {
                safe.push_str(BREAK);
                safe.push('.');
            }
            // What would start a list, a heading or a rule at the start of a line.
            '-' | '+' | '=' | '#' if at == 0 && next.is_some_and(|next| !next.is_ascii_digit()) => {
                safe.push('\\');
                safe.push(character);
            }
            '.' | ')'
                if at != 0
                    && text[..at].bytes().all(|byte| byte.is_ascii_digit())
                    && next.is_none_or(char::is_whitespace) =>
            {
                safe.push('\\');
                safe.push(character);
            }
            _ => safe.push(character),
        }
    }
    safe
}

/// Text as Markdown code, also inside a table. A code span where nothing in the text could end it, or the cell, or be
/// taken for a comment; else the same with every sign as an entity.
pub fn markdown_code(text: &str) -> String {
    let text = visible(text);
    let risky = |character: char| matches!(character, '`' | '|' | '<' | '>' | '&' | '\\');
    if !text.is_empty() && text.trim() == text && !text.contains(risky) {
        return format!("`{text}`");
    }
    let mut safe = String::from("<code>");
    for character in text.chars() {
        match character {
            // A space at an end, or beside another, would be lost.
            ' ' => safe.push_str("&#32;"),
            plain if plain.is_alphanumeric() || plain == '/' => safe.push(plain),
            plain if !plain.is_ascii() => safe.push(plain),
            sign => safe.push_str(&format!("&#{};", u32::from(sign))),
        }
    }
    safe + "</code>"
}

/// Lines as a fenced block: the fence is longer than any run of backticks inside.
pub fn markdown_block(language: &str, lines: &[String]) -> String {
    let longest = lines.iter().flat_map(|line| line.split(|character| character != '`')).map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    let mut block = format!("{fence}{language}\n");
    for line in lines {
        // A marker inside would be taken for the end of the section.
        block.push_str(&visible(line).replace("<!--", "<!\u{2060}--"));
        block.push('\n');
    }
    block + &fence + "\n"
}

/// Text inside HTML or an attribute in double quotes.
pub fn html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // No character of XML 1.0.
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// The message of a workflow command of GitHub.
pub fn workflow_data(text: &str) -> String {
    visible(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a workflow command of GitHub.
pub fn workflow_property(text: &str) -> String {
    workflow_data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A word for a POSIX shell; `None` for one that no line can hold.
pub fn shell_word(text: &str) -> Option<String> {
    if text.is_empty() || visible(text) != text {
        return None;
    }
    let plain = |character: char| character.is_ascii_alphanumeric() || "_-./=:,@+".contains(character);
    if text.chars().all(plain) && !text.starts_with('-') {
        return Some(text.to_owned());
    }
    Some(format!("'{}'", text.replace('\'', r"'\''")))
}

/// The glob that matches exactly this text.
pub fn glob(text: &str) -> String {
    let mut glob = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | ',' | '\\') {
            glob.push('\\');
        }
        glob.push(character);
    }
    glob
}

/// The text cut to so many characters, with the number of those left out.
pub fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}... ({} more characters)", &text[..end], text[end..].chars().count()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_prose_has_no_markup_left() {
        assert_eq!(markdown("a*b_c [x](y) `z` <b> & |"), r"a\*b\_c \[x\](y) \`z\` &lt;b&gt; &amp; &#124;");
        assert_eq!(
            markdown("@me #12 :x: https://a www.b"),
            "@<!-- -->me #<!-- -->12 :<!-- -->x: https:<!-- -->//a www<!-- -->.b"
        );
        assert_eq!(markdown("- item"), r"\- item");
        assert_eq!(markdown("12. item"), r"12\. item");
        assert_eq!(markdown("a: b. 1.5"), "a: b. 1.5");
    }

    #[test]
    fn markdown_code_is_a_span_unless_the_text_could_end_it() {
        assert_eq!(markdown_code("parse/json_2 *x*"), "`parse/json_2 *x*`");
        assert_eq!(markdown_code("a|b"), "<code>a&#124;b</code>");
        assert_eq!(markdown_code("`"), "<code>&#96;</code>");
        assert_eq!(markdown_code(" x"), "<code>&#32;x</code>");
        assert_eq!(markdown_code(""), "<code></code>");
    }

    #[test]
    fn fence_is_longer_than_what_it_holds() {
        assert_eq!(markdown_block("text", &["````".into()]), "`````text\n````\n`````\n");
        assert_eq!(markdown_block("", &["x".into()]), "```\nx\n```\n");
    }

    #[test]
    fn shell_words_are_quoted_where_they_must_be() {
        assert_eq!(shell_word("parse/json"), Some("parse/json".to_owned()));
        assert_eq!(shell_word("it's $HOME"), Some(r"'it'\''s $HOME'".to_owned()));
        assert_eq!(shell_word("-x"), Some("'-x'".to_owned()));
        assert_eq!(shell_word("a\nb"), None);
        assert_eq!(glob("a*{b}"), r"a\*\{b\}");
    }

    #[test]
    fn workflow_commands_hold_no_line_end_and_properties_no_separator() {
        assert_eq!(workflow_data("50 %\n::error::x"), "50 %25\\n\\u{3a}:error::x");
        assert_eq!(workflow_property("a:b,c"), "a%3Ab%2Cc");
    }

    #[test]
    fn clipped_text_says_how_much_is_missing() {
        assert_eq!(clip("µµµµ", 4), "µµµµ");
        assert_eq!(clip("µµµµµ", 2), "µµ... (3 more characters)");
    }
}
