// The page of a running service: asks it every few seconds and draws the answers.

import { barChart, cell, chanceTable, html, number, percent, scale } from "./charts.js";
import { short, sparkline, table, tableRow } from "./charts.js";

const MOST_BARS = 60;
const $ = (id) => document.getElementById(id);
const sum = (values) => values.reduce((total, value) => total + value, 0);
const ratio = (part, whole) => (whole ? part / whole : null);
const key = () => sessionStorage.getItem("key"); // it is kept in this tab only

let activity = null;
let model = null;
let picked = -1;
let sorting = { by: "share", down: true };

/** Ask the service; throw an error that can be shown, with `status` where there is one. */
async function ask(path) {
  const headers = key() ? { Authorization: `Bearer ${key()}` } : {};
  let answer;
  try {
    answer = await fetch(path, { headers, cache: "no-store", signal: AbortSignal.timeout(10000) });
  } catch {
    throw new Error("The service does not answer; trying again.");
  }
  const body = await answer.json().catch(() => null);
  if (answer.ok && body) return body;
  const message = body?.error?.message ?? `The service answered ${answer.status}.`;
  throw Object.assign(new Error(message), { status: answer.status });
}

async function refresh() {
  try {
    activity = await ask(`v1/activity?minutes=${$("minutes").value}`);
    if (model?.model !== activity.model) model = await ask("v1/model");
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
  drawArms();
  drawCertainty();
  drawOrders();
}

function drawTotals() {
  const decisions = sum(activity.decisions);
  const rewards = sum(activity.rewards);
  const total = sum(Object.values(activity.arms).flatMap(totals));
  const tiles = {
    decisions: number(decisions),
    rewards: number(rewards),
    rewarded: percent(ratio(rewards, decisions)),
    "decisions per minute": number(decisions / activity.minutes.length),
    "mean reward": short(ratio(total, rewards)),
  };
  $("totals").replaceChildren(
    ...Object.entries(tiles).map(([name, value]) =>
      html("div", {}, html("dt", {}, name), html("dd", {}, value)),
    ),
  );
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

/** Return how many minutes one bar stands for, so that few enough bars remain. */
const minutesOfBar = () => Math.ceil(activity.minutes.length / MOST_BARS);

/** Return the sums of a series over the minutes of each bar. */
function buckets(values) {
  const size = minutesOfBar();
  return values.flatMap((_, i) => (i % size ? [] : [sum(values.slice(i, i + size))]));
}

function drawTraffic() {
  const size = minutesOfBar();
  const perMinute = (values) => buckets(values).map((total) => total / size);
  const [decisions, rewards] = [perMinute(activity.decisions), perMinute(activity.rewards)];
  const time = { hour: "2-digit", minute: "2-digit" };
  const labels = activity.minutes
    .filter((_, i) => i % size === 0)
    .map((moment) => new Date(moment).toLocaleTimeString("en-GB", time));
  const peak = number(Math.max(...decisions));
  const areas = barChart($("traffic"), {
    series: { "bar-decisions": decisions, "bar-rewards": rewards },
    labels,
    label: `Decisions and rewards per minute since ${labels[0]}; at most ${peak} decisions.`,
  });
  const pick = (i) => {
    picked = i;
    areas.forEach((area, j) => area.classList.toggle("picked", i === j));
    const minutes = size > 1 ? `means of ${size} minutes` : "minutes";
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

function drawArms() {
  const rows = armRows().sort((a, b) => {
    const [one, two] = [a[sorting.by], b[sorting.by]];
    const order = typeof one === "string" ? one.localeCompare(two) : (one ?? -1e308) - (two ?? -1e308);
    return sorting.down ? -order : order;
  });
  const known = (name) => rows.flatMap((row) => row[name]).filter((value) => value !== null);
  const [shares, means] = [known("shares"), known("means")];
  const most = Math.max(...shares);
  const [low, high] = scale(Math.min(...means), Math.max(...means));
  say("share-scale", shares.length ? `0 to ${percent(most)}` : "");
  say("mean-scale", means.length ? `${short(low)} to ${short(high)}` : "");
  $("arms").tBodies[0].replaceChildren(
    ...rows.map((row) =>
      tableRow(
        row.arm,
        cell(percent(row.share), "number"),
        cell(sparkline(row.shares, [0, most], "share", `share of ${row.arm} over time`)),
        cell(short(row.mean), "number"),
        cell(sparkline(row.means, [low, high], "mean", `mean reward of ${row.arm} over time`)),
        cell(number(row.rewards), "number"),
      ),
    ),
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

function drawOrders() {
  const { arms, ranks } = model;
  $("orders").hidden = !ranks;
  const text = "Rank of each arm in each state: 1 is best; arms that no other beats share it.";
  say("orders-text", ranks ? text : "This policy has no orders.");
  if (!ranks) return;
  const drawn = (rank) => {
    const strength = 100 - (94 * (rank - 1)) / Math.max(arms.length - 1, 1);
    const kind = strength > 55 ? "cell strong" : "cell";
    return html("td", { class: kind, "--strength": `${strength}%` }, rank);
  };
  const shown = (_, i) => inContext(arms[i]);
  const rows = ranks.map((row, state) => tableRow(state, ...row.filter(shown).map(drawn)));
  const names = arms.filter(shown).map(nameInContext);
  $("orders").replaceChildren(table(["state", ...names], rows));
}

async function explain(user) {
  try {
    const context = $("context").value && `?context=${encodeURIComponent($("context").value)}`;
    const { why, states, notes } = await ask(`v1/users/${encodeURIComponent(user)}${context}`);
    $("user-result").replaceChildren(
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
$("minutes").onchange = () => {
  picked = -1;
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
