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
  return [Math.floor(low / step) * step, Math.ceil(high / step) * step || step, step];
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
  const every = Math.ceil(60 / wide);
  const names = labels.map((name, i) => {
    const shown = (labels.length - 1 - i) % every === 0;
    return svg("text", { x: Math.min(middle(i), right - 20), y: bottom + 16 }, shown ? name : "");
  });
  const areas = labels.map((name, i) => {
    const values = Object.values(series).map((numbers) => number(numbers[i]));
    const place = { x: left + wide * i, y: top, width: wide, height: bottom - top, class: "area" };
    return svg("rect", place, svg("title", {}, `${name}: ${values.join(", ")}`));
  });
  root.replaceChildren(picture(width, 220, label, ...axes.flat(), ...bars, ...names, ...areas));
  return areas;
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

export function table(heads, rows) {
  const head = heads.map((name) => html("th", { scope: "col" }, html("span", {}, name)));
  return html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows));
}

/** Return a title and a table of the likeliest rows: their first field, `chance`, the others. */
export function chanceTable(title, rows, chance, most = Infinity) {
  if (!rows.length) return [];
  const [first, ...rest] = Object.keys(rows[0]);
  const others = rest.filter((name) => name !== chance);
  const body = rows
    .sort((a, b) => b[chance] - a[chance])
    .slice(0, most)
    .map((row) => {
      const bar = html("span", { class: "level", "--share": percent(row[chance]) });
      const level = html("td", {}, bar, percent(row[chance]));
      return tableRow(row[first], level, ...others.map((name) => cell(text(row[name]))));
    });
  const scroll = { class: "scroll", tabindex: 0, role: "region", "aria-label": title };
  return [html("h3", {}, title), html("div", scroll, table([first, chance, ...others], body))];
}

function text(value) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : short(value);
}
