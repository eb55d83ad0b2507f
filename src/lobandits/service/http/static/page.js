// The page of a running service: asks it every few seconds and draws the answers.

import { barChart, cell, chanceTable, html, lineChart, number, percent, scale } from "./charts.js";
import { label, short, sparkline, table, tableRow } from "./charts.js";
import { health, shownHealth } from "./health.js";

const MOST_BARS = 60;
const MOST_ROWS = 200; // of arms and of states: a browser draws no more in a moment
const MOST_COLUMNS = 100;
const $ = (id) => document.getElementById(id);
const sum = (values) => values.reduce((total, value) => total + value, 0);
const ratio = (part, whole) => (whole ? part / whole : null);
const key = () => sessionStorage.getItem("key"); // it is kept in this tab only

const COMPARE_SECONDS = 30;

let activity = null;
let model = null;
let comparison = null;
let compared = 0; // when the comparison was asked for
let picked = -1;
let sorting = { by: "share", down: true };

/** Return a path with the problem that is looked at. */
function of(path) {
  const problem = $("problem").value;
  return problem ? `${path}${path.includes("?") ? "&" : "?"}problem=${encodeURIComponent(problem)}` : path;
}

/** Ask the service; throw an error that can be shown, with `status` where there is one. */
async function ask(path, kind = "json") {
  const headers = key() ? { Authorization: `Bearer ${key()}` } : {};
  let answer;
  try {
    answer = await fetch(path, { headers, cache: "no-store", signal: AbortSignal.timeout(10000) });
  } catch {
    throw new Error("The service does not answer; trying again.");
  }
  if (answer.ok && kind === "text") return answer.text();
  const body = await answer.json().catch(() => null);
  if (answer.ok && body) return body;
  const message = body?.error?.message ?? `The service answered ${answer.status}.`;
  throw Object.assign(new Error(message), { status: answer.status });
}

async function refresh() {
  try {
    activity = await ask(of(`v1/activity?minutes=${$("minutes").value}`));
    if (model?.model !== activity.model) {
      model = await ask(of("v1/model"));
      offer(Object.keys((await ask("v1/problems")).problems));
    }
    if (Date.now() > compared + 1000 * COMPARE_SECONDS) {
      comparison = await ask(of("v1/comparison"));
      compared = Date.now();
    }
    const up = await ask("readyz").catch((error) => ({ status: error.message }));
    drawTiles("health", shownHealth(health(await ask("metrics", "text")), up, activity.problem));
    show(true);
    draw();
    say("updated", `Updated ${new Date().toLocaleTimeString("en-GB")}`);
  } catch (error) {
    if (isAboutKeys(error)) askForKey(error);
    else {
      say("status", error.message);
      $("status").hidden = false;
    }
  }
}

/** Let one choose among problems, if there are several. */
function offer(problems) {
  $("problem-label").hidden = problems.length < 2;
  if ($("problem").options.length === problems.length) return;
  $("problem").replaceChildren(...problems.map((name) => html("option", { value: name }, name)));
  $("problem").value = activity.problem;
}

function show(board) {
  $("board").hidden = $("controls").hidden = !board;
  $("key-form").hidden = board;
  $("forget").hidden = !key();
  $("status").hidden = true;
}

const isAboutKeys = (error) => error.status === 401 || error.status === 403;

function askForKey(error) {
  if (!$("key-form").hidden && !key()) return;
  show(false);
  if (key()) {
    say("key-problem", error.message);
    $("key-problem").className = "problem";
  }
  sessionStorage.removeItem("key");
  $("key").focus();
}

/** Set a text, if it is another one: screen readers read out changes. */
function say(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

function draw() {
  const broken = activity.unreadable.length ? `; cannot read ${activity.unreadable.join(", ")}: see the log` : "";
  say("model", `${model.policy}, model ${model.model}${broken}`);
  drawContexts();
  drawTotals();
  drawTraffic();
  drawLearning();
  drawComparison();
  drawAdvice();
  drawArms();
  drawFit();
  drawCertainty();
  drawOrders();
}

/** Draw tiles: each a name, a value, and whether it needs a look. */
function drawTiles(id, tiles) {
  $(id).replaceChildren(
    ...tiles.map(([name, value, alarm]) =>
      html("div", alarm ? { class: "alarm" } : {}, html("dt", {}, name), html("dd", {}, value)),
    ),
  );
}

/** Return how many minutes of the window there were, from the first in which something happened. */
function minutesThereWere() {
  const first = activity.minutes.findIndex((_, i) => activity.decisions[i] + activity.rewards[i]);
  return activity.step * (first < 0 ? activity.minutes.length : activity.minutes.length - first);
}

function drawTotals() {
  const decisions = sum(activity.decisions);
  const rewards = sum(activity.rewards);
  const total = sum(Object.values(activity.arms).flatMap(totals));
  const minutes = minutesThereWere();
  drawTiles("totals", [
    ["decisions", number(decisions)],
    ["rewards", number(rewards)],
    ["rewarded", percent(ratio(rewards, decisions))],
    ["decisions per minute", number(decisions / minutes)],
    ["rewards per minute", number(rewards / minutes)],
    ["mean reward", short(ratio(total, rewards))],
  ]);
}

/** Offer the contexts that arms are named after, "context: arm"; hide the choice without any. */
function drawContexts() {
  const named = model.arms.filter((arm) => arm.includes(": ")).map((arm) => arm.split(": ")[0]);
  const names = [...new Set(named)];
  $("contexts").hidden = !names.length;
  const offered = [...$("context").options].map((option) => option.value);
  if (offered.join("\n") === ["", ...names].join("\n")) return;
  const options = names.map((name) => html("option", { value: name }, name));
  $("context").replaceChildren(html("option", { value: "" }, "all"), ...options);
}

const inContext = (arm) => arm.startsWith($("context").value && `${$("context").value}: `);
const nameInContext = (arm) => arm.slice($("context").value && $("context").value.length + 2);

/** Return the sums of an arm's rewards in each minute. */
const totals = ({ mean, rewards }) => rewards.map((n, i) => n * (mean[i] ?? 0));

/** Return how many entries one bar stands for, so that few enough bars remain. */
const minutesOfBar = () => Math.ceil(activity.minutes.length / MOST_BARS);

/** Return the sums of a series over the minutes of each bar. */
function buckets(values) {
  const size = minutesOfBar();
  return values.flatMap((_, i) => (i % size ? [] : [sum(values.slice(i, i + size))]));
}

const clock = (moment) =>
  new Date(moment).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

/** Return times as they are shown: with their day, unless all are of one. */
function moments(times) {
  const days = times.map((time) => new Date(time).toLocaleDateString("en-GB", { day: "numeric", month: "short" }));
  const [first] = days;
  return times.map((time, i) => (days.every((day) => day === first) ? "" : `${days[i]} `) + clock(time));
}

/** Return the time at which each bar begins. */
const bucketNames = () => activity.minutes.filter((_, i) => i % minutesOfBar() === 0).map(clock);

function drawTraffic() {
  const size = minutesOfBar();
  const minutesEach = size * activity.step;
  const perMinute = (values) => buckets(values).map((total) => total / minutesEach);
  const [decisions, rewards] = [perMinute(activity.decisions), perMinute(activity.rewards)];
  const labels = bucketNames();
  const peak = number(Math.max(...decisions));
  const areas = barChart($("traffic"), {
    series: { "bar-decisions": decisions, "bar-rewards": rewards },
    labels,
    label: `Decisions and rewards per minute since ${labels[0]}; at most ${peak} decisions.`,
  });
  const pick = (i) => {
    picked = i;
    areas.forEach((area, j) => area.classList.toggle("picked", i === j));
    const minutes = minutesEach > 1 ? `means of ${minutesEach} minutes` : "minutes";
    let text = `Bars are ${minutes}; the last is not over.`;
    if (!sum([...decisions, ...rewards])) text = "Nothing happened in this window.";
    if (i >= 0)
      text = `${labels[i]}: ${number(decisions[i])} decisions and ${number(rewards[i])} rewards per minute`;
    say("traffic-readout", text);
  };
  pick(picked);
  $("traffic").onpointerover = (event) => pick(areas.indexOf(event.target));
  $("traffic").onpointerleave = () => pick(-1);
  $("traffic").onkeydown = (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!move) return;
    event.preventDefault();
    const from = picked < 0 ? labels.length : picked;
    pick(Math.min(Math.max(from + move, 0), labels.length - 1));
  };
}

function armRows() {
  const shown = Object.entries(activity.arms).filter(([arm]) => inContext(arm));
  const inMinute = (i) => sum(shown.map(([, series]) => series.decisions[i]));
  const decisions = buckets(activity.minutes.map((_, i) => inMinute(i)));
  const ratios = (parts, wholes) => parts.map((part, i) => ratio(part, wholes[i]));
  return shown.map(([arm, series]) => {
    const played = buckets(series.decisions);
    const rewarded = buckets(series.rewards);
    const sums = buckets(totals(series));
    return {
      arm: nameInContext(arm),
      rewards: sum(rewarded),
      share: ratio(sum(played), sum(decisions)),
      mean: ratio(sum(sums), sum(rewarded)),
      shares: ratios(played, decisions),
      means: ratios(sums, rewarded),
    };
  });
}

/** Return the largest value; a call takes fewer arguments than there may be values. */
const largest = (values) => values.reduce((most, value) => Math.max(most, value), -Infinity);
const smallest = (values) => -largest(values.map((value) => -value));

function drawArms() {
  const rows = armRows().sort((a, b) => {
    const [one, two] = [a[sorting.by], b[sorting.by]];
    const order = typeof one === "string" ? one.localeCompare(two) : (one ?? -1e308) - (two ?? -1e308);
    return sorting.down ? -order : order;
  });
  const known = (name) => rows.flatMap((row) => row[name]).filter((value) => value !== null);
  const [shares, means] = [known("shares"), known("means")];
  const most = largest(shares);
  const [low, high] = scale(smallest(means), largest(means));
  say("share-scale", shares.length ? `0 to ${percent(most)}` : "");
  say("mean-scale", means.length ? `${short(low)} to ${short(high)}` : "");
  const drawn = rows.slice(0, MOST_ROWS).map((row) =>
    tableRow(
      row.arm,
      cell(percent(row.share), "number"),
      cell(sparkline(row.shares, [0, most], "share", `share of ${row.arm} over time`)),
      cell(short(row.mean), "number"),
      cell(sparkline(row.means, [low, high], "mean", `mean reward of ${row.arm} over time`)),
      cell(number(row.rewards), "number"),
    ),
  );
  if (rows.length > MOST_ROWS) drawn.push(tableRow(`and ${number(rows.length - MOST_ROWS)} more`));
  label(["arm", "share", "share over time", "mean", "mean over time", "rewards"], drawn);
  $("arms").tBodies[0].replaceChildren(...drawn);
}

/** Return the mean reward in the minutes of each bar. */
function meansOver({ rewards, mean }) {
  const [counts, sums] = [buckets(rewards), buckets(totals({ rewards, mean }))];
  return counts.map((count, i) => ratio(sums[i], count));
}

function drawLearning() {
  const groups = Object.entries(activity.groups);
  $("learning-keys").replaceChildren(
    ...groups.flatMap(([name]) => [html("span", { class: `key ${name}` }), `${name} `]),
    activity.changes.length ? "(dashed: another model)" : "",
  );
  const lines = groups.map(([name, series]) => ({ name, kind: name, values: meansOver(series) }));
  const marks = activity.changes.map(({ place, model: name }) => ({
    place: Math.floor(place / minutesOfBar()),
    name: `${name}, ${clock(activity.minutes[place])}`,
  }));
  const label = `Mean reward over time of ${groups.map(([name]) => name).join(" and ") || "nobody"}.`;
  lineChart($("learning"), { lines, labels: bucketNames(), marks, label });
  const rows = Object.entries(activity.models).map(([name, { decisions, rewards, mean }]) => {
    const [count, total] = [sum(rewards), sum(totals({ rewards, mean }))];
    const cells = [sum(decisions), count].map((value) => cell(number(value), "number"));
    return tableRow(name, ...cells, cell(short(ratio(total, count)), "number"));
  });
  $("models").replaceChildren(rows.length ? table(["model", "decisions", "rewards", "mean"], rows) : "");
}

function drawComparison() {
  const { control, groups, difference, over_time: line, assumption } = comparison;
  $("comparison-card").hidden = !control;
  if (!control) return;
  const { estimate, low, high, lift, verdict } = difference;
  const told = [`Control: ${control.policy}, ${percent(control.share)} of users. Verdict: ${verdict}.`];
  if (estimate !== null) told.push(`Difference ${short(estimate)} (${percent(lift)} of the control)`);
  if (low !== null) told.push(`, between ${short(low)} and ${short(high)} (95%).`);
  say("verdict", told.join(" ").replace(" ,", ","));
  const band = { low: line.low, high: line.high, values: line.difference };
  lineChart($("comparison"), {
    lines: [{ name: "model minus control", kind: "model", ...band }],
    labels: moments(line.times),
    zero: true,
    label: `Difference over time. ${$("verdict").textContent}`,
  });
  const rows = [
    ["users with rewards", "users", number],
    [`users counted, with ${control.rewards} rewards`, "counted", number],
    ["their mean reward", "mean", short],
    ["decisions", "decisions", number],
    ["rewards", "rewards", number],
    ["reward per decision", "per_decision", short],
    ["sum of rewards per user", "per_user", short],
  ].map(([name, key, shown]) => {
    const cells = Object.values(groups).map((group) => cell(shown(group[key]), "number"));
    return tableRow(name, ...cells);
  });
  $("groups").replaceChildren(table(["", ...Object.keys(groups)], rows));
  say("assumption", assumption);
}

function drawAdvice() {
  const advice = comparison.advice;
  $("advice-card").hidden = !advice;
  if (!advice) return;
  const { agreed, differed } = advice;
  say(
    "advice-text",
    `Of ${number(advice.decisions)} decisions of the caller it would have changed ${percent(advice.changed)}. ` +
      `Mean reward where both chose alike: ${short(agreed.mean)}; where they differed: ${short(differed.mean)}.`,
  );
  const rows = advice.changes.slice(0, 20).map((row) =>
    tableRow(row.shown, cell(row.advised), cell(number(row.decisions), "number"), cell(short(row.mean), "number")),
  );
  $("advice").replaceChildren(rows.length ? table(["shown", "advised", "decisions", "mean of shown"], rows) : "");
}

function drawFit() {
  const fit = activity.fit;
  let text = "This policy has no states that users could fit.";
  if (fit) text = "No user has rewards yet.";
  if (fit?.users) {
    const many = fit.unexplained > 5 * fit.expected && fit.users >= 20;
    text =
      `${percent(fit.unexplained)} of ${number(fit.users)} users are explained by no state; ` +
      `of a model that fits, about ${percent(fit.expected)} or fewer.` +
      (many ? " The states do not fit these users: learn them again." : "");
  }
  say("fit", text);
  const recent = activity.recent;
  $("recent").hidden = !recent?.users;
  if (recent?.users)
    say(
      "recent",
      `${percent(recent.share)} of what is known of them is recent; recent rewards alone decide ` +
        `for ${percent(recent.changed)} of them, who have changed.`,
    );
}

function drawCertainty() {
  const { of, chances } = activity.certainty;
  $("certainty").hidden = !chances.length;
  const text = `Users of the last decisions (${chances.length}), by the chance of their most likely ${of}.`;
  say("certainty-text", chances.length ? text : "No decision yet.");
  if (!chances.length) return;
  const counts = Array(10).fill(0);
  for (const chance of chances) counts[Math.min(Math.floor(10 * chance), 9)] += 1;
  barChart($("certainty"), {
    series: { bar: counts },
    labels: counts.map((_, i) => `${10 * i}–${10 * (i + 1)}%`),
    label: `${text} ${counts.join(", ")}`,
  });
}

/** The colours of viridis, from its violet to its yellow. */
const VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];

function rankCell(rank, arms) {
  const place = (rank - 1) / Math.max(arms - 1, 1);
  const colour = VIRIDIS[Math.round((1 - place) * (VIRIDIS.length - 1))];
  return html("td", { class: rank > 0.45 * arms ? "cell dark" : "cell", "--colour": colour }, rank);
}

function drawOrders() {
  const { arms, ranks, shares } = model;
  $("orders").hidden = !ranks;
  const text = "Rank of each arm in each state, 1 is best; the largest states and the best arms come first.";
  const part = ranks && arms.length > MOST_COLUMNS ? ` The first ${MOST_COLUMNS} of ${number(arms.length)} arms.` : "";
  say("orders-text", ranks ? text + part : "This policy has no orders.");
  if (!ranks) return;
  const weight = shares ?? ranks.map(() => 1 / ranks.length);
  const average = arms.map((_, a) => sum(ranks.map((row, s) => weight[s] * row[a])));
  const columns = arms.flatMap((arm, a) => (inContext(arm) ? [a] : [])).sort((a, b) => average[a] - average[b])
    .slice(0, MOST_COLUMNS);
  const states = ranks.map((_, s) => s).sort((a, b) => weight[b] - weight[a]).slice(0, MOST_ROWS);
  const share = (s) => (shares ? [cell(percent(shares[s]))] : []);
  const rows = states.map((s) =>
    tableRow(s, ...share(s), ...columns.map((a) => rankCell(ranks[s][a], columns.length))),
  );
  const heads = ["state", ...(shares ? ["share"] : [])];
  const drawn = table([...heads, ...columns.map((a) => nameInContext(arms[a]))], rows);
  [...drawn.tHead.rows[0].cells].slice(heads.length).forEach((head) => head.classList.add("arm"));
  $("orders").replaceChildren(drawn);
}

async function explain(user) {
  try {
    const context = $("context").value && `?context=${encodeURIComponent($("context").value)}`;
    const told = await ask(of(`v1/users/${encodeURIComponent(user)}${context}`));
    const { why, states, notes, group, plays, recent, changed } = told;
    const whose = group === "control" ? "The control group's policy decides for this user." : "";
    const fades = recent === undefined ? "" :
      `${short(Math.round(10 * recent) / 10)} of ${number(plays)} plays are recent` +
      (changed ? "; these alone decide: the user has changed." : "; all decide alike.");
    $("user-result").replaceChildren(
      html("p", {}, whose),
      html("p", { class: "quiet" }, fades),
      ...chanceTable(`Arms of ${user}`, why, "probability"),
      ...chanceTable("Most likely states", states, "posterior", 10),
      ...notes.map((note) => html("p", { class: "quiet" }, note)),
    );
  } catch (error) {
    if (isAboutKeys(error)) askForKey(error);
    const message = error.status === 404 ? `No user is called “${user}”.` : error.message;
    $("user-result").replaceChildren(html("p", { class: "quiet" }, message));
  }
}

$("key-form").onsubmit = (event) => {
  event.preventDefault();
  sessionStorage.setItem("key", $("key").value);
  $("key").value = "";
  refresh();
};
$("forget").onclick = () => {
  sessionStorage.removeItem("key");
  location.reload();
};
$("minutes").onchange = $("problem").onchange = () => {
  picked = -1;
  compared = 0;
  refresh();
};
$("context").onchange = draw;
$("user-form").onsubmit = (event) => {
  event.preventDefault();
  explain($("user").value);
};
for (const button of document.querySelectorAll("[data-sort]")) {
  button.onclick = () => {
    const by = button.dataset.sort;
    sorting = { by, down: sorting.by === by ? !sorting.down : by !== "arm" };
    document.querySelector("[aria-sort]").removeAttribute("aria-sort");
    button.parentElement.setAttribute("aria-sort", sorting.down ? "descending" : "ascending");
    drawArms();
  };
}
window.onresize = () => activity && model && draw();

async function run() {
  if ($("live").checked && !document.hidden) await refresh();
  setTimeout(run, 5000);
}
run();
