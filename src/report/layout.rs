//! The layout of JSON reports: indented, but each run of a benchmark on a line of its own.

use std::io;

use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

/// Containers nested this deep stand on one line: the runs of a side, the statistics of a metric. A report is mostly runs,
/// and indented in full it would be three times as long.
const ONE_LINE_DEPTH: usize = 7;

/// Indents the outer containers and keeps the inner ones on a line.
#[derive(Default)]
pub(super) struct Layout {
    depth: usize,
    outer: PrettyFormatter<'static>,
    inner: CompactFormatter,
}

impl Layout {
    fn is_inner(&self) -> bool {
        ONE_LINE_DEPTH <= self.depth
    }
}

macro_rules! by_depth {
    ($($name:ident($($argument:ident: $kind:ty)?)),+ $(,)?) => {
        $(fn $name<W: ?Sized + io::Write>(&mut self, writer: &mut W $(, $argument: $kind)?) -> io::Result<()> {
            match self.is_inner() {
                true => self.inner.$name(writer $(, $argument)?),
                false => self.outer.$name(writer $(, $argument)?),
            }
        })+
    };
}

macro_rules! containers {
    ($($begin:ident $end:ident),+) => {
        $(fn $begin<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
            self.depth += 1;
            match self.is_inner() {
                true => self.inner.$begin(writer),
                false => self.outer.$begin(writer),
            }
        }

        fn $end<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
            let ended = match self.is_inner() {
                true => self.inner.$end(writer),
                false => self.outer.$end(writer),
            };
            self.depth -= 1;
            ended
        })+
    };
}

impl Formatter for Layout {
    containers!(begin_array end_array, begin_object end_object);
    by_depth!(
        begin_array_value(first: bool),
        end_array_value(),
        begin_object_key(first: bool),
        end_object_key(),
        begin_object_value(),
        end_object_value(),
    );
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;

    fn laid_out(json: &str) -> String {
        let value: serde_json::Value = serde_json::from_str(json).expect("valid");
        let mut bytes = Vec::new();
        value
            .serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Layout::default()))
            .expect("plain data");
        String::from_utf8(bytes).expect("JSON is UTF-8")
    }

    #[test]
    fn seventh_level_is_on_one_line_and_all_before_is_indented() {
        let text = laid_out(r#"[[[[[[{"a":1,"b":[2,{"c":3}]},{}]]]]]]"#);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(lines[6..8], [r#"{"a":1,"b":[2,{"c":3}]},"#, "{}"]);
        assert_eq!(text.lines().nth(6).map(|line| line.len() - line.trim_start().len()), Some(12));
    }

    #[test]
    fn values_are_those_that_went_in() {
        let json = r#"{"x":[{"y":[[{"z":[{"deep":[1.5,null,"a"]},{"k":{}}]}],[]]}],"e":{}}"#;
        let before: serde_json::Value = serde_json::from_str(json).expect("valid");
        let after: serde_json::Value = serde_json::from_str(&laid_out(json)).expect("still valid");
        assert_eq!(before, after);
    }
}
