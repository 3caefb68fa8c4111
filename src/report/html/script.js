"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const table = document.getElementById("rows");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const details = new Map();

  const make = (name, attributes, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const digits = (value) => String(Number(value.toPrecision(4)));
  const percent = (value) => (0 < value ? "+" : "") + digits(value) + " %";

  // Round numbers between two ends.
  const ticks = (low, high, wanted) => {
    const rough = (high - low) / wanted;
    if (!(0 < rough) || !Number.isFinite(rough)) return [low];
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((it) => rough <= it * power) * power;
    const all = [];
    for (let at = Math.ceil(low / step); at * step <= high && all.length < 12; at++) all.push(at * step);
    return all;
  };
  const scale = (low, high, from, to) => {
    const span = high - low || Math.abs(high) || 1;
    const start = high === low ? low - span / 2 : low;
    return (value) => from + ((value - start) / span) * (to - from);
  };
  const figure = (svg, caption, label) => {
    const node = document.createElement("figure");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", label);
    const words = document.createElement("figcaption");
    words.textContent = caption;
    node.append(svg, words);
    return node;
  };
  const sides = (item) => [["base", item.base], ["head", item.head]].filter(([, side]) => side);

  // Samples in the order they were made.
  const samples = (item) => {
    const [width, height, left, bottom] = [560, 220, 62, 26];
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
    const values = sides(item).flatMap(([, side]) => side.values);
    const places = sides(item).flatMap(([, side]) => side.places);
    const y = scale(Math.min(...values), Math.max(...values), height - bottom - 8, 10);
    const x = scale(Math.min(...places), Math.max(...places), left + 10, width - 12);
    for (const at of ticks(Math.min(...values), Math.max(...values), 6)) {
      svg.append(make("line", { x1: left, x2: width, y1: y(at), y2: y(at), class: "axis" }));
      svg.append(make("text", { x: left - 6, y: y(at) + 4, "text-anchor": "end" }, digits(at / item.divisor)));
    }
    for (const at of ticks(Math.min(...places), Math.max(...places), 6).filter(Number.isInteger)) {
      svg.append(make("text", { x: x(at), y: height - 8, "text-anchor": "middle" }, at));
    }
    for (const [name, side] of sides(item)) {
      if (side.box) {
        svg.append(make("line", { x1: left, x2: width, y1: y(side.box[2]), y2: y(side.box[2]), class: name + " median" }));
      }
      side.values.forEach((value, index) => {
        const [cx, cy] = [x(side.places[index]), y(value)];
        svg.append(name === "base"
          ? make("circle", { cx, cy, r: 3.6, class: "base solid" })
          : make("path", { d: `M${cx} ${cy - 4.6}l4.6 4.6l-4.6 4.6l-4.6-4.6z`, class: "head solid" }));
      });
    }
    const count = sides(item).map(([, side]) => `${side.values.length} of ${side.name}`).join(", ");
    return figure(svg, `Samples in ${item.unit} by ${item.ordered}: ○ ${item.names[0]}, ◇ ${item.names[1]}; dashes are medians`,
      `Samples of ${item.title}: ${count}`);
  };

  // Tukey's boxes: whiskers over what is no outlier, outliers as points.
  const boxes = (item) => {
    const [width, height, left] = [560, 150, 62];
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
    const all = sides(item).flatMap(([, side]) => side.values);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const x = scale(low, high, left + 10, width - 12);
    for (const at of ticks(low, high, 7)) {
      svg.append(make("line", { x1: x(at), x2: x(at), y1: 6, y2: height - 24, class: "axis" }));
      svg.append(make("text", { x: x(at), y: height - 8, "text-anchor": "middle" }, digits(at / item.divisor)));
    }
    const told = [];
    sides(item).forEach(([name, side], index) => {
      const middle = 36 + index * 52;
      svg.append(make("text", { x: left - 8, y: middle + 4, "text-anchor": "end" }, side.name.slice(0, 8)));
      const [from, q1, median, q3, to] = side.box;
      svg.append(make("path", { d: `M${x(from)} ${middle - 8}v16m0 -8H${x(q1)}M${x(q3)} ${middle}H${x(to)}m0 -8v16`, class: name }));
      svg.append(make("rect", { x: x(q1), y: middle - 15, width: Math.max(1, x(q3) - x(q1)), height: 30, class: name + " solid" }));
      svg.append(make("line", { x1: x(median), x2: x(median), y1: middle - 15, y2: middle + 15, class: name + " thick" }));
      for (const outlier of side.outliers) svg.append(make("circle", { cx: x(outlier), cy: middle, r: 3.2, class: name + " solid" }));
      told.push(`${side.name}: median ${digits(median / item.divisor)}, quartiles ${digits(q1 / item.divisor)} and ${digits(q3 / item.divisor)}, ${side.outliers.length} outliers`);
    });
    return figure(svg, `Distributions in ${item.unit}: box of the middle half, line at the median, whiskers over what is no outlier`,
      `Distributions of ${item.title}. ${told.join("; ")}`);
  };

  // The interval of the change against the limit.
  const interval = (item) => {
    const [width, height, left] = [560, 92, 12];
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
    const [change, from, to] = item.change;
    const ends = [0, item.limit, change, from ?? change, to ?? change];
    const pad = (Math.max(...ends) - Math.min(...ends)) * 0.08 || 1;
    const [low, high] = [Math.min(...ends) - pad, Math.max(...ends) + pad];
    const x = scale(low, high, left, width - left);
    const [start, end] = item.limit < 0 ? [x(low), x(item.limit)] : [x(item.limit), x(high)];
    svg.append(make("rect", { x: start, y: 6, width: Math.max(0, end - start), height: 56, class: "beyond" }));
    for (const at of ticks(low, high, 6)) svg.append(make("text", { x: x(at), y: height - 8, "text-anchor": "middle" }, percent(at)));
    svg.append(make("line", { x1: x(0), x2: x(0), y1: 6, y2: 62, class: "zero" }));
    svg.append(make("line", { x1: x(item.limit), x2: x(item.limit), y1: 6, y2: 62, class: "limit" }));
    if (from !== null && to !== null) {
      svg.append(make("rect", { x: x(from), y: 26, width: Math.max(2, x(to) - x(from)), height: 16, class: "bar" }));
    }
    svg.append(make("circle", { cx: x(change), cy: 34, r: 5, class: "point" }));
    const between = from === null || to === null ? "" : `, interval ${percent(from)} to ${percent(to)}`;
    return figure(svg, `Change ${percent(change)}${between}; limit ${percent(item.limit)} (red), beyond it the shaded part`,
      `Change of ${item.title}: ${percent(change)}${between}, limit ${percent(item.limit)}`);
  };

  const open = (row, button) => {
    const known = details.get(row);
    if (known) {
      known.hidden = !known.hidden;
      button.setAttribute("aria-expanded", String(!known.hidden));
      return;
    }
    const item = data[Number(row.dataset.item)];
    const detail = document.createElement("tr");
    detail.className = "detail";
    detail.id = button.getAttribute("aria-controls");
    const cell = detail.insertCell();
    cell.colSpan = row.cells.length;
    const plots = document.createElement("div");
    plots.className = "plots";
    if (item.change) plots.append(interval(item));
    const drawn = sides(item).length && sides(item).every(([, side]) => side.box);
    if (drawn) plots.append(boxes(item), samples(item));
    cell.append(plots);
    details.set(row, detail);
    row.after(detail);
    button.setAttribute("aria-expanded", "true");
  };
  body.addEventListener("click", (event) => {
    const button = event.target.closest("button[aria-controls]");
    if (button) open(button.closest("tr"), button);
  });

  const names = new Intl.Collator(undefined, { numeric: true });
  const sortBy = (column, descending) => {
    const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const numeric = table.tHead.rows[0].cells[column].classList.contains("number");
    const sign = descending ? -1 : 1;
    const order = rows.map((row, index) => [row, index]);
    order.sort(([a, i], [b, j]) => {
      const [left, right] = [key(a), key(b)];
      if (!numeric) return sign * names.compare(left, right) || i - j;
      const [x, y] = [left, right].map((it) => (it === "" || it === "-" ? NaN : Number(it)));
      // Rows without a number stay last, whichever way.
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || i - j;
      return sign * (x - y) || i - j;
    });
    const all = document.createDocumentFragment();
    for (const [row] of order) {
      all.append(row);
      if (details.has(row)) all.append(details.get(row));
    }
    body.append(all);
  };
  for (const heading of table.tHead.rows[0].cells) {
    heading.querySelector("button").addEventListener("click", () => {
      const descending = heading.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortBy(heading.cellIndex, descending);
    });
  }

  const [text, kind, group, shown] = ["text", "kind", "group", "shown"].map((id) => document.getElementById(id));
  const filter = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const searched = (row.querySelector(".name").textContent + " " + row.querySelector(".metric").textContent).toLowerCase();
      const kinds = kind.value.split(" ");
      const wanted = words.every((word) => searched.includes(word))
        && (kind.value === "" || kinds.includes(row.dataset.kind))
        && (group.value === "" || row.dataset.group === group.value.slice(1));
      row.hidden = !wanted;
      const detail = details.get(row);
      if (detail) {
        const button = row.querySelector("button[aria-controls]");
        detail.hidden = !wanted || button.getAttribute("aria-expanded") !== "true";
      }
      count += wanted;
    }
    shown.textContent = `${count} of ${rows.length} rows`;
  };
  for (const control of [text, kind, group]) control.addEventListener("input", filter);
  document.querySelector(".filters").hidden = false;
  filter();
})();
