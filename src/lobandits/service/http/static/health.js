// Is it up: what the service's own numbers say of errors, latency and the store.

import { number, percent, short } from "./charts.js";

/** Return the numbers of a page for Prometheus: name, labels and value of each line. */
function samples(text) {
  return text.split("\n").flatMap((line) => {
    const found = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!found) return [];
    const labels = [...(found[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    return [{ name: found[1], labels: Object.fromEntries(labels.map(([, k, v]) => [k, v])), value: Number(found[3]) }];
  });
}

/** Return the least bound under which a share of all answers of the busy routes stayed. */
function quantile(found, share) {
  const counts = new Map();
  for (const { name, labels, value } of found) {
    if (name !== "lob_request_seconds_bucket" || !/^\/v1\/(decisions|rewards)/.test(labels.route)) continue;
    const bound = labels.le === "+Inf" ? Infinity : Number(labels.le);
    counts.set(bound, (counts.get(bound) ?? 0) + value);
  }
  const bounds = [...counts.keys()].sort((a, b) => a - b);
  const all = counts.get(Infinity) ?? 0;
  return all ? bounds.find((bound) => counts.get(bound) >= share * all) : null;
}

export function health(text) {
  const found = samples(text);
  const total = (name, keep = () => true) =>
    found.filter((row) => row.name === name && keep(row.labels)).reduce((sum, row) => sum + row.value, 0);
  return {
    requests: total("lob_requests_total"),
    failed: total("lob_requests_total", ({ status }) => status.startsWith("5")),
    half: quantile(found, 0.5),
    most: quantile(found, 0.99),
    storeErrors: total("lob_store_errors_total"),
    oldest: (problem) =>
      found.find((row) => row.name === "lob_oldest_unrewarded_seconds" && row.labels.problem === problem)?.value,
  };
}

const milliseconds = (seconds) => {
  if (seconds === null) return "–";
  return seconds === Infinity ? "over 10 s" : `${short(1000 * seconds)} ms`;
};

export function duration(seconds) {
  if (seconds === undefined) return "–";
  const [unit, name] = [[86400, "days"], [3600, "h"], [60, "min"]].find(([size]) => seconds >= 2 * size) ?? [1, "s"];
  return `${number(Math.floor(seconds / unit))} ${name}`;
}

/** Return the tiles: a name, a value, and whether it needs a look. */
export function shownHealth(found, up, problem) {
  const ready = up.status === "ready";
  const share = found.requests ? found.failed / found.requests : null;
  return [
    ["store", ready ? "ready" : up.status, !ready],
    ["store errors", number(found.storeErrors), found.storeErrors > 0],
    ["requests", number(found.requests)],
    ["failed (5xx)", found.failed ? `${number(found.failed)} (${percent(share)})` : "0", found.failed > 0],
    ["half answered within", milliseconds(found.half)],
    ["99% within", milliseconds(found.most)],
    ["oldest without reward", duration(found.oldest(problem))],
  ];
}
