// Why this arm? What the service knows of one user, as tables.

import { html, level } from "./charts.js";
import { percent, short } from "./text.js";

const MOST_STATES = 10;

/** Return the elements that show an answer of `/v1/users/{user}`. */
export function explanation({ user, why, states, notes }) {
  const arms = [...why].sort((a, b) => b.probability - a.probability);
  const likely = [...states].sort((a, b) => b.posterior - a.posterior).slice(0, MOST_STATES);
  return [
    part(`Arms of ${user}`, arms, "probability"),
    ...(likely.length ? [part("Most likely states", likely, "posterior")] : []),
    ...notes.map((note) => html("p", { class: "quiet" }, note)),
  ];
}

/** Return rows as a table: the first column names the row, then `chance`, with a bar. */
function part(title, rows, chance) {
  const [first, ...rest] = Object.keys(rows[0]);
  const others = rest.filter((name) => name !== chance);
  const head = [first, chance, ...others].map((name, i) =>
    html("th", { scope: "col", class: i > 1 ? "number" : "" }, name),
  );
  const body = rows.map((row) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, String(row[first])),
      html("td", { class: "level-cell" }, level(row[chance]), percent(row[chance])),
      ...others.map((name) => html("td", { class: "number" }, text(row[name]))),
    ),
  );
  const built = html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...body));
  const scroll = { class: "scroll", tabindex: 0, role: "region", "aria-label": title };
  return html("div", {}, html("h3", {}, title), html("div", scroll, built));
}

function text(value) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : short(value);
}
