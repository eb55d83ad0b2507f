// The page of a running service: asks the HTTP interface every few seconds and draws the answers.

import { heatMap, histogram, html, scale, sparkline, timeBars } from "./charts.js";
import { ask, isAboutKeys, key } from "./service.js";
import { clock, number, percent, short } from "./text.js";
import { explanation } from "./user.js";

const REFRESH = 5000;
const MOST_BARS = 60;
const TENTHS = 10;
const FEW_ARMS = 12;
const FEW_STATES = 15;
const $ = (id) => document.getElementById(id);
const sum = (values) => values.reduce((total, value) => total + value, 0);

let activity = null;
let orders = null;
let picked = -1;
let sorting = { by: "share", down: true };

async function refresh() {
  try {
    activity = await ask(`v1/activity?minutes=${$("minutes").value}`);
    if (orders?.model !== activity.model) orders = await ask("v1/model");
    show("board");
    draw();
    $("updated").textContent = `Updated ${new Date().toLocaleTimeString("en-GB")}`;
  } catch (error) {
    if (isAboutKeys(error)) askForKey(error);
    else complain(error.message);
  }
}

function show(id) {
  $("board").hidden = id !== "board";
  $("key-form").hidden = id !== "key-form";
  $("controls").hidden = id !== "board";
  $("forget").hidden = !key.read();
  $("status").hidden = true;
}

function complain(message) {
  $("status").textContent = message;
  $("status").className = "notice error";
  $("status").hidden = false;
}

function askForKey(error) {
  if (!$("key-form").hidden && !key.read()) return;
  show("key-form");
  if (key.read()) {
    $("key-problem").textContent = error.message;
    $("key-problem").className = "problem";
  }
  key.forget();
  $("key").focus();
}

/** Set a text, if it is another one: screen readers read out changes. */
function say(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

function draw() {
  drawModel();
  drawTotals();
  drawTraffic();
  drawArms();
  drawCertainty();
  drawOrders();
}

function drawModel() {
  $("model").textContent = `${orders.policy}, model ${orders.model}`;
}

function drawTotals() {
  const decisions = sum(activity.decisions);
  const rewards = sum(activity.rewards);
  const total = sum(Object.values(activity.arms).map((arm) => sum(totals(arm))));
  const tiles = {
    decisions: number(decisions),
    rewards: number(rewards),
    rewarded: decisions ? percent(rewards / decisions) : "–",
    "decisions per minute": number(decisions / activity.minutes.length),
    "mean reward": short(rewards ? total / rewards : null),
  };
  $("totals").replaceChildren(
    ...Object.entries(tiles).map(([name, value]) =>
      html("div", {}, html("dt", {}, name), html("dd", {}, value)),
    ),
  );
}

/** Return the sums of an arm's rewards in each minute. */
const totals = ({ mean, rewards }) => rewards.map((n, i) => n * (mean[i] ?? 0));

/** Return sums over equal parts of a long series, so that few enough bars remain. */
function buckets(values) {
  const size = Math.ceil(values.length / MOST_BARS);
  return Array.from({ length: Math.ceil(values.length / size) }, (_, i) =>
    sum(values.slice(i * size, (i + 1) * size)),
  );
}

function drawTraffic() {
  const size = Math.ceil(activity.minutes.length / MOST_BARS);
  const perMinute = (values) => buckets(values).map((total) => total / size);
  const series = [perMinute(activity.decisions), perMinute(activity.rewards)];
  const labels = activity.minutes.filter((_, i) => i % size === 0).map(clock);
  const peak = number(Math.max(...series[0]));
  const minutes = size > 1 ? `means of ${size} minutes` : "minutes";
  timeBars($("traffic"), {
    names: ["decisions", "rewards"],
    series,
    labels,
    picked,
    label: `Decisions and rewards per minute since ${labels[0]}; at most ${peak} decisions.`,
    onPick: (i) => {
      picked = i;
      const [decisions, rewards] = series.map((values) => number(values[i] ?? 0));
      const nothing = sum(series.flat()) ? "" : "Nothing happened in this window. ";
      say(
        "traffic-readout",
        i < 0
          ? `${nothing}Bars are ${minutes}; the last is not over.`
          : `${labels[i]}: ${decisions} decisions and ${rewards} rewards per minute`,
      );
    },
  });
}

function armRows() {
  const decisions = buckets(activity.decisions);
  const total = sum(activity.decisions);
  return Object.entries(activity.arms).map(([arm, series]) => {
    const played = buckets(series.decisions);
    const rewarded = buckets(series.rewards);
    const sums = buckets(totals(series));
    const rewards = sum(rewarded);
    return {
      arm,
      rewards,
      share: total ? sum(played) / total : 0,
      mean: rewards ? sum(sums) / rewards : null,
      shares: played.map((n, i) => (decisions[i] ? n / decisions[i] : null)),
      means: sums.map((value, i) => (rewarded[i] ? value / rewarded[i] : null)),
    };
  });
}

function drawArms() {
  const rows = armRows().sort((a, b) => {
    const [one, two] = [a[sorting.by], b[sorting.by]];
    const order = typeof one === "string" ? one.localeCompare(two) : (one ?? -1e308) - (two ?? -1e308);
    return sorting.down ? -order : order;
  });
  const known = (values) => values.filter((value) => value !== null);
  const tallest = Math.max(0.01, ...rows.flatMap((row) => known(row.shares)));
  const means = rows.flatMap((row) => known(row.means));
  const [low, high] = means.length ? scale(Math.min(...means), Math.max(...means)) : [0, 1];
  $("share-scale").textContent = rows.some((row) => row.share) ? `0 to ${percent(tallest)}` : "";
  $("mean-scale").textContent = means.length ? `${short(low)} to ${short(high)}` : "";
  $("arms").tBodies[0].replaceChildren(
    ...rows.map((row) => armRow(row, [0, tallest], [low, high])),
  );
}

function armRow(row, shareScale, meanScale) {
  const cell = (content, kind) => html("td", kind ? { class: kind } : {}, content);
  return html(
    "tr",
    {},
    html("th", { scope: "row" }, row.arm),
    cell(percent(row.share), "number"),
    cell(sparkline(row.shares, shareScale, "share", `share of ${row.arm} over time`)),
    cell(short(row.mean), "number"),
    cell(sparkline(row.means, meanScale, "mean", `mean reward of ${row.arm} over time`)),
    cell(number(row.rewards), "number"),
  );
}

function drawCertainty() {
  const { of, chances } = activity.certainty;
  $("certainty").hidden = !chances.length;
  say(
    "certainty-text",
    chances.length
      ? `Users of the last decisions (${chances.length}), by the chance of their most likely ${of}.`
      : "No decision yet.",
  );
  if (!chances.length) return;
  const counts = Array(TENTHS).fill(0);
  for (const chance of chances) counts[Math.min(Math.floor(chance * TENTHS), TENTHS - 1)] += 1;
  const label = `Users in each tenth of the chance of their most likely ${of}: ${counts.join(", ")}`;
  histogram($("certainty"), { counts, label });
}

function drawOrders() {
  $("orders").hidden = !orders.ranks;
  $("orders-text").textContent = orders.ranks
    ? "Rank of each arm in each state: 1 is best; arms that no other beats share it."
    : "This policy has no orders.";
  const few = orders.arms.length <= FEW_ARMS && (orders.ranks ?? []).length <= FEW_STATES;
  $("board").classList.toggle("few", few);
  if (orders.ranks) heatMap($("orders"), orders);
}

async function explain(user) {
  try {
    const answer = await ask(`v1/users/${encodeURIComponent(user)}`);
    $("user-result").replaceChildren(...explanation(answer));
  } catch (error) {
    if (isAboutKeys(error)) askForKey(error);
    const message = error.status === 404 ? `No user is called “${user}”.` : error.message;
    $("user-result").replaceChildren(html("p", { class: "empty" }, message));
  }
}

$("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  key.keep($("key").value);
  $("key").value = "";
  refresh();
});
$("forget").addEventListener("click", () => {
  key.forget();
  location.reload();
});
$("controls").addEventListener("submit", (event) => event.preventDefault());
$("minutes").addEventListener("change", () => {
  picked = -1;
  refresh();
});
$("user-form").addEventListener("submit", (event) => {
  event.preventDefault();
  explain($("user").value);
});
for (const button of document.querySelectorAll("[data-sort]")) {
  button.addEventListener("click", () => {
    const by = button.dataset.sort;
    sorting = { by, down: sorting.by === by ? !sorting.down : by !== "arm" };
    for (const head of document.querySelectorAll("#arms thead th")) head.removeAttribute("aria-sort");
    button.parentElement.setAttribute("aria-sort", sorting.down ? "descending" : "ascending");
    if (activity) drawArms();
  });
}
window.addEventListener("resize", () => activity && draw());

async function run() {
  if ($("live").checked && !document.hidden) await refresh();
  setTimeout(run, REFRESH);
}
run();
