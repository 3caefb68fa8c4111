//! The table divan prints: a tree of names, six columns of figures, rows of throughput and allocations below a leaf.

/// The headings behind the first, which stands in one cell with the crate's name.
const HEADINGS: [&str; 5] = ["slowest", "median", "mean", "samples", "iters"];
const FIRST_HEADING: &str = "fastest";
const MEDIAN: usize = 2;
const SAMPLES: usize = 4;

/// A leaf of the tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Leaf {
    /// The crate whose name heads its table.
    pub(super) root: String,
    /// Its names from below the crate on, joined by `::`.
    pub(super) path: String,
    /// What was measured; `None` where the bench's code has it ignored.
    pub(super) figures: Option<Figures>,
}

/// What was measured of a leaf, by the medians of its samples.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Figures {
    /// ns of one iteration.
    pub(super) latency: f64,
    /// What an iteration allocates: new blocks and the growth of old ones. `None` where nothing is said of it: without
    /// divan's allocator, or with nothing allocated.
    pub(super) allocated: Option<Allocated>,
}

/// A count of operations and the sum of their sizes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Allocated {
    pub(super) count: f64,
    /// Bytes.
    pub(super) size: f64,
}

/// A line that belongs to a table and cannot be read, with the reason.
#[derive(Debug, PartialEq)]
pub(super) struct BadLine {
    pub(super) line: String,
    pub(super) why: &'static str,
}

/// All leaves of all tables in an output, in their order. What benchmarks and the main print between is passed over.
pub(super) fn leaves(text: &str) -> Result<Vec<Leaf>, BadLine> {
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.read(line).map_err(|why| BadLine { line: line.to_owned(), why })?;
    }
    Ok(reader.leaves)
}

#[derive(Default)]
struct Reader {
    leaves: Vec<Leaf>,
    /// Where the first column begins, in characters. 0 before the first heading.
    column: usize,
    /// The names from the crate to the row last read.
    names: Vec<String>,
    /// A leaf has its name and not its figures: its benchmark printed something meanwhile.
    pending: bool,
    /// What the next rows below the leaf tell of.
    block: Block,
}

/// Where the reader is in the rows below a leaf.
#[derive(Default)]
enum Block {
    /// Not below a measured leaf.
    #[default]
    Outside,
    /// Throughput, or a heading such as `alloc:`.
    Open,
    /// The count of a heading; whether it counts.
    Count(bool),
    /// The bytes of a heading; whether they count.
    Bytes(bool),
}

impl Reader {
    fn read(&mut self, line: &str) -> Result<(), &'static str> {
        let cells = cells(line);
        if let Some(cells) = &cells
            && cells[1..] == HEADINGS
            && let Some(root) = cells[0].strip_suffix(FIRST_HEADING)
        {
            self.column = root.chars().count();
            self.names = vec![root.trim_end().to_owned()];
            self.pending = false;
            self.block = Block::Outside;
            return Ok(());
        }
        if self.column == 0 {
            return Ok(());
        }
        match (branch(line), cells) {
            (Some((depth, start)), cells) if depth <= self.names.len() => {
                self.block = Block::Outside;
                self.names.truncate(depth);
                self.branch(line, start, cells)
            }
            (None, Some(cells)) if self.pending && is_measured(&cells) => self.leaf(&cells),
            (None, Some(cells)) if cells[SAMPLES..] == ["", ""] => self.below(&cells),
            _ => Ok(()),
        }
    }

    /// A row with a name.
    fn branch(&mut self, line: &str, start: usize, cells: Option<[&str; 6]>) -> Result<(), &'static str> {
        self.pending = false;
        let Some(cells) = cells else {
            // The row ends in what the benchmark printed; the figures come later.
            self.names.push(self.name(line, start));
            self.pending = true;
            return Ok(());
        };
        if cells[1..].iter().all(|cell| cell.is_empty()) {
            let (name, rest) = self.split(cells[0], start);
            let ignored = rest == "(ignored)";
            self.names.push(name);
            if ignored {
                self.push(None);
            }
            return Ok(());
        }
        if !is_measured(&cells) {
            // The benchmark printed something with five bars in it.
            self.names.push(self.name(line, start));
            self.pending = true;
            return if cells[SAMPLES..].iter().all(|cell| is_count(cell)) {
                Err("one of its figures is no time")
            } else {
                Ok(())
            };
        }
        let before = before_value(cells[0]).ok_or("its first figure is no time")?;
        // A name longer than divan foresaw moves the column from here on.
        let before_column = before.chars().count();
        let name = match self.is_padded(before) {
            true => self.name(before, start),
            false => {
                self.column = before_column;
                before.chars().skip(start).collect::<String>().trim_end().to_owned()
            }
        };
        self.names.push(name);
        self.leaf(&cells)
    }

    /// The figures of the leaf last named.
    fn leaf(&mut self, cells: &[&str; 6]) -> Result<(), &'static str> {
        self.pending = false;
        self.block = Block::Open;
        let latency = time(cells[MEDIAN]).ok_or("its median is no time")?;
        self.push(Some(Figures { latency, allocated: None }));
        Ok(())
    }

    /// A row below a leaf.
    fn below(&mut self, cells: &[&str; 6]) -> Result<(), &'static str> {
        let block = std::mem::take(&mut self.block);
        let first = cells[0].trim_start_matches(['│', ' ']);
        let median = cells[MEDIAN];
        let allocated = match self.leaves.last_mut().and_then(|leaf| leaf.figures.as_mut()) {
            Some(figures) => &mut figures.allocated,
            None => return Ok(()),
        };
        self.block = match block {
            Block::Outside => Block::Outside,
            // `dealloc:` and `shrink:` give back, `max alloc:` is the most at one time: neither is new.
            Block::Open if first.ends_with(':') && median.is_empty() => {
                let counts = matches!(first, "alloc:" | "grow:");
                if counts || matches!(first, "max alloc:" | "dealloc:" | "shrink:") {
                    allocated.get_or_insert_default();
                }
                Block::Count(counts)
            }
            Block::Open => Block::Open,
            Block::Count(counts) => {
                let count = median.parse::<f64>().ok().filter(|count| count.is_finite());
                let count = count.ok_or("it is no number of allocations")?;
                allocated.get_or_insert_default().count += if counts { count } else { 0.0 };
                Block::Bytes(counts)
            }
            Block::Bytes(counts) => {
                let size = bytes(median).ok_or("it is no number of bytes")?;
                allocated.get_or_insert_default().size += if counts { size } else { 0.0 };
                Block::Open
            }
        };
        Ok(())
    }

    fn push(&mut self, figures: Option<Figures>) {
        let (root, path) = self.names.split_first().expect("the heading gave the first name");
        self.leaves.push(Leaf { root: root.clone(), path: path.join("::"), figures });
    }

    /// The name of a row, and what stands in its first column.
    fn split<'a>(&self, cell: &'a str, start: usize) -> (String, &'a str) {
        if self.is_padded(cell) {
            let at = cell.char_indices().nth(self.column).map_or(cell.len(), |(at, _)| at);
            return (self.name(cell, start), cell[at..].trim());
        }
        let rest = cell.strip_suffix("(ignored)").map_or("", |before| &cell[before.len()..]);
        let name = cell[..cell.len() - rest.len()].chars().skip(start).collect::<String>();
        (name.trim_end().to_owned(), rest)
    }

    /// What stands before the first column, without the tree.
    fn name(&self, line: &str, start: usize) -> String {
        let length = self.column.saturating_sub(start);
        line.chars().skip(start).take(length).collect::<String>().trim_end().to_owned()
    }

    /// Whether the name ends before the first column: two spaces stand there, or the text is shorter.
    fn is_padded(&self, text: &str) -> bool {
        let before: Vec<char> = text.chars().take(self.column).skip(self.column.saturating_sub(2)).collect();
        before.iter().all(|&character| character == ' ')
    }
}

/// The six cells of a row, without spaces at their ends but for the start of the first. Names may hold the separator.
fn cells(line: &str) -> Option<[&str; 6]> {
    let mut cells = [""; 6];
    let mut rest = line;
    for cell in cells[1..].iter_mut().rev() {
        let (before, last) = rest.rsplit_once('│')?;
        *cell = last.trim();
        rest = before;
    }
    cells[0] = rest.trim_end();
    Some(cells)
}

/// The depth of a row with a branch of the tree, from 1, and where its name begins, in characters.
fn branch(line: &str) -> Option<(usize, usize)> {
    let mut rest = line;
    let mut depth = 1;
    loop {
        if rest.starts_with("├─ ") || rest.starts_with("╰─ ") {
            return Some((depth, 3 * depth));
        }
        rest = rest.strip_prefix("│  ").or_else(|| rest.strip_prefix("   "))?;
        depth += 1;
    }
}

/// Whether the cells behind the first are the figures of a leaf.
fn is_measured(cells: &[&str; 6]) -> bool {
    cells[1..SAMPLES].iter().all(|cell| time(cell).is_some())
        && cells[SAMPLES..].iter().all(|cell| is_count(cell))
}

fn is_count(cell: &str) -> bool {
    !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit())
}

/// What stands before the time that a cell ends with.
fn before_value(cell: &str) -> Option<&str> {
    let (text, _unit) = cell.rsplit_once(' ')?;
    let before = text.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
    time(&cell[before.len()..]).map(|_| before)
}

/// A time such as `1.234 µs`, in ns.
fn time(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ')?;
    let scale = match unit {
        "ps" => 1e-3,
        "ns" => 1.0,
        // The micro sign and the Greek letter.
        "µs" | "μs" | "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => return None,
    };
    quantity(number).map(|number| number * scale)
}

/// A size such as `1.024 KB`, in bytes.
fn bytes(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ')?;
    let scale = match unit {
        "B" => 1.0,
        "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "PB" => 1e15,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "TiB" => 1_099_511_627_776.0,
        "PiB" => 1_125_899_906_842_624.0,
        _ => return None,
    };
    quantity(number).map(|number| number * scale)
}

/// A number of digits and at most one point. Thousands may be set off by commas.
fn quantity(text: &str) -> Option<f64> {
    let digits = text.replace(',', "");
    let plain = digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.chars().all(|character| character.is_ascii_digit() || character == '.');
    digits.parse().ok().filter(|_| plain)
}
