// Charts as SVG elements. Text enters as text nodes only, so names with markup stay text.

import { compact } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";

/** Return an element with attributes and children: elements, or strings as text. */
export function html(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Return ends and step of a scale with about `count` round steps that covers low to high. */
export function scale(low, high, count = 4) {
  const raw = (high - low || 1) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999) * power;
  return [Math.floor(low / step) * step, Math.ceil(high / step) * step || step, step];
}

function frame(root, height, label, ...children) {
  const width = Math.max(root.clientWidth, 240);
  const size = { viewBox: `0 0 ${width} ${height}`, width, height };
  root.replaceChildren(svg("svg", { ...size, role: "img", "aria-label": label }, ...children));
}

function axes(box, ticks, format) {
  return ticks.flatMap((value, i) => {
    const y = Math.round(box.y(value)) + 0.5;
    const line = { x1: box.left, x2: box.right, y1: y, y2: y, class: i ? "grid" : "axis" };
    const place = { x: box.left - 6, y: y + 4, "text-anchor": "end" };
    return [svg("line", line), svg("text", place, format(value))];
  });
}

function plotBox(root, height, top, bottom) {
  const width = Math.max(root.clientWidth, 240);
  const box = { left: 38, right: width - 4, top: 8, bottom: height - 22 };
  box.y = (value) =>
    box.bottom - ((value - bottom) / (top - bottom)) * (box.bottom - box.top);
  return box;
}

function steps(top, step) {
  return Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step);
}

/**
 * Draw bars of several series over time, each narrower than the one before.
 * Pointer and arrow keys pick a bar; `onPick(index)` hears of it.
 */
export function timeBars(root, { names, series, labels, label, picked, onPick }) {
  const height = 230;
  const [, top, step] = scale(0, Math.max(4, ...series.flat()));
  const box = plotBox(root, height, top, 0);
  const width = (box.right - box.left) / labels.length;
  const bars = series.flatMap((values, s) => {
    const thin = width * [0.86, 0.4][s];
    return values.map((value, i) => {
      const x = box.left + width * (i + 0.5) - thin / 2;
      const y = box.y(value);
      const place = { x, y, width: thin, height: box.bottom - y };
      return svg("rect", { ...place, class: `bar-${names[s]}`, "data-value": value });
    });
  });
  const every = Math.ceil(labels.length / Math.floor((box.right - box.left) / 60));
  const times = labels.flatMap((text, i) => {
    if ((labels.length - 1 - i) % every) return [];
    const x = Math.min(box.left + width * (i + 0.5), box.right - 16);
    return [svg("text", { x, y: height - 6, "text-anchor": "middle" }, text)];
  });
  const mark = svg("rect", { class: "picked", y: box.top, width, height: box.bottom - box.top });
  const pick = (i) => {
    const inside = i >= 0 && i < labels.length;
    mark.setAttribute("visibility", inside ? "visible" : "hidden");
    if (inside) mark.setAttribute("x", box.left + width * i);
    onPick(inside ? i : -1);
  };
  frame(root, height, label, ...axes(box, steps(top, step), compact), ...bars, mark, ...times);
  pick(picked);
  root.onpointermove = (event) => {
    const x = event.clientX - root.firstChild.getBoundingClientRect().left;
    pick(Math.floor((x - box.left) / width));
  };
  root.onpointerleave = () => pick(-1);
  root.onkeydown = (event) => {
    const moves = { ArrowLeft: -1, ArrowRight: 1 };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const from = picked < 0 ? labels.length : picked;
    picked = Math.min(Math.max(from + moves[event.key], 0), labels.length - 1);
    pick(picked);
  };
}

/** Draw a bar for each count of shares in equal parts of 0 to 100%. */
export function histogram(root, { counts, label }) {
  const height = 200;
  const [, top, step] = scale(0, Math.max(4, ...counts));
  const box = plotBox(root, height, top, 0);
  const width = (box.right - box.left) / counts.length;
  const edge = (i) => `${Math.round((100 * i) / counts.length)}%`;
  const bars = counts.map((count, i) => {
    const y = box.y(count);
    const place = { x: box.left + width * i + 1, y, width: width - 2, height: box.bottom - y };
    const title = svg("title", {}, `${edge(i)} to ${edge(i + 1)}: ${count}`);
    return svg("rect", { ...place, class: "bar", "data-value": count }, title);
  });
  const edges = Array.from({ length: counts.length / 2 + 1 }, (_, i) => {
    const x = Math.min(box.left + width * 2 * i, box.right - 12);
    return svg("text", { x, y: height - 6, "text-anchor": "middle" }, edge(2 * i));
  });
  frame(root, height, label, ...axes(box, steps(top, step), compact), ...bars, ...edges);
}

/** Return a bar that is full at 1. */
export function level(value) {
  const size = { width: 72, height: 8, viewBox: "0 0 72 8", "aria-hidden": true, class: "level" };
  const bar = (width, kind) => svg("rect", { width, height: 8, rx: 2, class: kind });
  return svg("svg", size, bar(72, "track"), bar(72 * value, "bar"));
}

/** Return a small line of values between low and high; null leaves a gap. */
export function sparkline(values, [low, high], kind, label) {
  const [width, height] = [112, 26];
  const x = (i) => 3 + (i / Math.max(values.length - 1, 1)) * (width - 6);
  const y = (v) => height - 3 - ((v - low) / (high - low || 1)) * (height - 6);
  let path = "";
  let last = null;
  values.forEach((value, i) => {
    if (value === null) return;
    path += `${i && values[i - 1] !== null ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
    last = [x(i), y(value)];
  });
  const size = { viewBox: `0 0 ${width} ${height}`, width, height };
  const drawn = svg("svg", { ...size, role: "img", "aria-label": label });
  drawn.append(svg("line", { x1: 0, x2: width, y1: height - 1, y2: height - 1, class: "base" }));
  drawn.append(svg("path", { d: path || "M0 0", class: `spark ${kind}` }));
  if (last) drawn.append(svg("circle", { cx: last[0], cy: last[1], r: 2.2, class: `dot ${kind}` }));
  return drawn;
}

const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Draw each arm's rank in each state, 1 (best) in the strongest colour. */
export function heatMap(root, { arms, ranks }) {
  const names = arms.map((arm) => shorten(arm, 18));
  const longest = Math.max(...names.map((name) => name.length));
  const [left, top, right] = [42, 20 + longest * 5.2, 8 + longest * 4.2];  // names are oblique
  const wide = Math.max((root.clientWidth - left - right) / arms.length, 18);
  const cell = { wide: Math.min(wide, 46), high: ranks.length > 60 ? 7 : 18 };
  const every = Math.ceil(14 / cell.high / 5) * 5;
  const heads = names.map((name, a) => {
    const at = `translate(${left + cell.wide * (a + 0.5) + 3} ${top - 6}) rotate(-50)`;
    return svg("text", { transform: at, class: "name" }, name, svg("title", {}, arms[a]));
  });
  const rows = ranks.flatMap((row, s) => {
    const y = top + cell.high * s;
    const cells = row.flatMap((rank, a) => rankCell(rank, arms, s, left + cell.wide * a, y, a, cell));
    if (cell.high < 14 && s % every) return cells;
    const place = { x: left - 6, y: y + cell.high / 2 + 4, "text-anchor": "end" };
    return [svg("text", place, String(s)), ...cells];
  });
  const width = left + cell.wide * arms.length + right;
  const height = top + cell.high * ranks.length + 4;
  const label = `Ranks of ${arms.length} arms in ${ranks.length} states`;
  const corner = svg("text", { x: left - 6, y: top - 6, "text-anchor": "end" }, "state");
  const size = { viewBox: `0 0 ${width} ${height}`, width, height };
  root.replaceChildren(
    svg("svg", { ...size, role: "img", "aria-label": label }, corner, ...heads, ...rows),
  );
}

function rankCell(rank, arms, s, x, y, a, { wide, high }) {
  const strength = 1 - (0.94 * (rank - 1)) / Math.max(arms.length - 1, 1);
  const title = svg("title", {}, `state ${s}, ${arms[a]}: rank ${rank}`);
  const place = { x, y, width: wide, height: high, class: "cell" };
  const drawn = svg("rect", { ...place, "fill-opacity": strength.toFixed(3) }, title);
  if (high < 14) return [drawn];
  const tone = strength > 0.55 ? "on-dark" : "name";
  const middle = { x: x + wide / 2, y: y + high / 2 + 4, "text-anchor": "middle" };
  return [drawn, svg("text", { ...middle, class: tone, "aria-hidden": true }, String(rank))];
}
