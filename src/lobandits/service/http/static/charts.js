// Numbers, tables and charts. Names enter as text nodes only, so markup in them stays text.

export const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 }).format;
const compact = new Intl.NumberFormat("en", { notation: "compact" }).format;
// Where there is no number, these two return a dash.
export const percent = (share) =>
  share === null ? "–" : `${(100 * share).toFixed(share && share < 0.1 ? 1 : 0)}%`;
export const short = (value) => (value === null ? "–" : String(Number(value.toPrecision(4))));

/** Return a function that makes elements with attributes, or --variables, and children. */
const maker = (namespace) => (name, attributes, ...children) => {
  const element = document.createElementNS(namespace, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("--")) element.style.setProperty(key, value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
};

export const html = maker("http://www.w3.org/1999/xhtml");
const svg = maker("http://www.w3.org/2000/svg");

function picture(width, height, label, ...children) {
  const size = { viewBox: `0 0 ${width} ${height}`, width, height };
  return svg("svg", { ...size, role: "img", "aria-label": label }, ...children);
}

/** Return ends and step of a scale with about four round steps that covers low to high. */
export function scale(low, high) {
  const raw = (high - low || 1) / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999) * power;
  const [bottom, top] = [Math.floor(low / step) * step, Math.ceil(high / step) * step || step];
  return [bottom, top > bottom ? top : bottom + step, step];
}

/**
 * Draw a bar for each label and series, a class and its values; later series are narrower.
 * Return the areas over the labels, for what the pointer does there.
 */
export function barChart(root, { series, labels, label }) {
  const width = Math.max(root.clientWidth, 240);
  const [left, right, top, bottom] = [38, width - 4, 8, 198];
  const [, most, step] = scale(0, Math.max(4, ...Object.values(series).flat()));
  const y = (value) => bottom - (value / most) * (bottom - top);
  const wide = (right - left) / labels.length;
  const middle = (i) => left + wide * (i + 0.5);

  const axes = Array.from({ length: Math.round(most / step) + 1 }, (_, i) => {
    const at = Math.round(y(i * step)) + 0.5;
    const line = svg("path", { d: `M${left} ${at}H${right}`, class: i ? "grid" : "axis" });
    return [line, svg("text", { x: left - 6, y: at + 4, class: "tick" }, compact(i * step))];
  });
  const bars = Object.entries(series).flatMap(([kind, values], s) =>
    values.map((value, i) => {
      const thin = wide * (s ? 0.4 : 0.86);
      const place = { x: middle(i) - thin / 2, y: y(value), width: thin, height: bottom - y(value) };
      return svg("rect", { ...place, class: kind, "data-value": value });
    }),
  );
  const names = namesBelow(labels, middle, right, bottom);
  const areas = labels.map((name, i) => {
    const values = Object.values(series).map((numbers) => number(numbers[i]));
    const place = { x: left + wide * i, y: top, width: wide, height: bottom - top, class: "area" };
    return svg("rect", place, svg("title", {}, `${name}: ${values.join(", ")}`));
  });
  root.replaceChildren(picture(width, 220, label, ...axes.flat(), ...bars, ...names, ...areas));
  return areas;
}

/** Return what stands below a chart of `labels`: as many names as there is room for. */
function namesBelow(labels, at, right, bottom) {
  const wide = at(1) - at(0) || right;
  const every = Math.ceil((7 * Math.max(...labels.map((name) => name.length)) + 24) / wide);
  return labels.map((name, i) => {
    const shown = (labels.length - 1 - i) % every === 0;
    const x = Math.min(at(i), right - 3.2 * name.length); // the last one is not cut
    return svg("text", { x, y: bottom + 16 }, shown ? name : "");
  });
}

/**
 * Draw lines over time: each a name, its class, values and perhaps a band from low to high; null
 * leaves a gap. `marks` are names at places of the labels; `zero` draws the line of 0 as well.
 */
export function lineChart(root, { lines, labels, marks = [], zero = false, label }) {
  const width = Math.max(root.clientWidth, 240);
  const [left, right, top, bottom] = [46, width - 8, 18, 198];
  const known = lines.flatMap(({ values, low = [], high = [] }) => [...values, ...low, ...high]);
  const numbers = known.filter((value) => value !== null);
  const ends = [Math.min(...numbers, ...(zero ? [0] : [])), Math.max(...numbers, ...(zero ? [0] : []))];
  const [least, most, step] = scale(...(numbers.length ? ends : [0, 1]));
  const y = (value) => bottom - ((value - least) / (most - least)) * (bottom - top);
  const x = (i) => left + (i / Math.max(labels.length - 1, 1)) * (right - left);

  const axes = Array.from({ length: Math.round((most - least) / step) + 1 }, (_, i) => {
    const value = least + i * step;
    const at = Math.round(y(value)) + 0.5;
    const kind = zero && Math.abs(value) < step / 1e6 ? "axis" : "grid";
    const line = svg("path", { d: `M${left} ${at}H${right}`, class: kind });
    return [line, svg("text", { x: left - 6, y: at + 4, class: "tick" }, short(value))];
  });
  const changes = marks.map(({ place, name }) => {
    const line = svg("path", { d: `M${x(place)} ${top - 8}V${bottom}`, class: "mark" });
    return svg("g", {}, line, svg("title", {}, name));
  });
  const bands = lines.flatMap(({ kind, low = [], high = [] }) =>
    runs(low, high).map((there) => {
      const above = there.map((i) => [i, high[i]]);
      const edge = [...above, ...there.toReversed().map((i) => [i, low[i]])];
      const points = edge.map(([i, value]) => `${x(i)},${y(value)}`).join(" ");
      return svg("polygon", { points, class: `band ${kind}` });
    }),
  );
  const drawn = lines.map(({ name, kind, values }) => {
    const path = values.map((value, i) => {
      if (value === null) return "";
      return (values[i - 1] ?? null) === null ? `M${x(i)} ${y(value)}h0` : `L${x(i)} ${y(value)}`;
    });
    return svg("path", { d: path.join(""), class: `line ${kind}` }, svg("title", {}, name));
  });
  const names = namesBelow(labels, x, right, bottom);
  const parts = [...axes.flat(), ...bands, ...changes, ...drawn, ...names];
  root.replaceChildren(picture(width, 220, label, ...parts));
}

/** Return the places at which both series have values, those without a gap together. */
function runs(low, high) {
  const found = [];
  low.forEach((value, i) => {
    if (value === null || high[i] === null) return;
    if (found.at(-1)?.at(-1) === i - 1) found.at(-1).push(i);
    else found.push([i]);
  });
  return found;
}

/** Return a small line of values between low and high; null leaves a gap. */
export function sparkline(values, [low, high], kind, label) {
  const [width, height] = [96, 26];
  const path = values.map((value, i) => {
    if (value === null) return "";
    const x = 3 + (i / Math.max(values.length - 1, 1)) * (width - 6);
    const y = height - 3 - ((value - low) / (high - low || 1)) * (height - 6);
    return (values[i - 1] ?? null) === null ? `M${x} ${y}h0` : `L${x} ${y}`; // h0 makes a dot
  });
  const base = svg("path", { d: `M0 ${height - 1}H${width}`, class: "grid" });
  return picture(width, height, label, base, svg("path", { d: path.join(""), class: `spark ${kind}` }));
}

export const cell = (content, kind = "") => html("td", { class: kind }, content);
export const tableRow = (name, ...cells) => html("tr", {}, html("th", { scope: "row" }, name), ...cells);

/** Name every cell after its column: on a phone, cells stand below each other. */
export function label(heads, rows) {
  for (const row of rows) [...row.cells].forEach((cell, i) => cell.setAttribute("data-label", heads[i]));
}

export function table(heads, rows) {
  label(heads, rows);
  const head = heads.map((name) => html("th", { scope: "col" }, html("span", {}, name)));
  return html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows));
}

/** What the columns of explanations mean. */
const MEANINGS = {
  arm: "what may be played",
  plays: "how often this user has rewards of it",
  mean: "the user's mean reward of it",
  probability: "the chance that a decision plays it now",
  posterior: "how likely the user is in this state",
  chance: "how likely the user is in this state",
  share: "how common the state is among all users",
  best: "the best arm of the state",
  "posterior mean": "what the user's mean is expected to be",
  "posterior std": "how uncertain that is",
  "on top": "the chance that it is the user's best arm",
  regret: "what playing it is expected to cost",
  information: "what playing it is expected to tell",
  "order holds": "the chance that the user keeps the state's order",
  loss: "how far the rewards are from any order with it on top, or from the state's; less is better",
  weight: "its share of the evidence",
  lower: "the least that its mean may be",
  upper: "the most that its mean may be",
  active: "whether some state that is still possible has it on top",
  feasible: "whether the rewards leave the state possible",
  D: "how clearly the rewards speak against it",
  index: "what is minimised",
  context: "where it may be played",
};

/** Return a title, a table of the likeliest rows, and what their columns mean. */
export function chanceTable(title, rows, chance, most = Infinity) {
  if (!rows.length) return [];
  const [first, ...rest] = Object.keys(rows[0]);
  const others = rest.filter((name) => name !== chance);
  const heads = [first, chance, ...others];
  const body = rows
    .sort((a, b) => b[chance] - a[chance])
    .slice(0, most)
    .map((row) => {
      const bar = html("span", { class: "level", "--share": percent(row[chance]) });
      const level = html("td", {}, bar, percent(row[chance]));
      return tableRow(row[first], level, ...others.map((name) => cell(text(row[name]))));
    });
  const scroll = { class: "scroll", tabindex: 0, role: "region", "aria-label": title };
  const told = heads.filter((name) => MEANINGS[name]).map((name) => `${name}: ${MEANINGS[name]}`);
  const shown = html("div", scroll, table(heads, body));
  return [html("h3", {}, title), shown, html("p", { class: "quiet meanings" }, `${told.join("; ")}.`)];
}

function text(value) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : short(value);
}
