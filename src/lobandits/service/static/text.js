// Numbers and times as text.

const rounded = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const few = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export const number = rounded.format;
export const compact = few.format;
export const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`;

/** Return four digits of a number, and a dash where there is none. */
export const short = (value) => (value === null ? "–" : String(Number(value.toPrecision(4))));

export const clock = (seconds) =>
  new Date(1000 * seconds).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
