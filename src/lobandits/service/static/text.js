// Numbers and times as text.

const rounded = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const few = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export const number = rounded.format;
export const compact = few.format;
export const percent = (share) => `${(100 * share).toFixed(share && share < 0.1 ? 1 : 0)}%`;

/** Return four digits of a number, and a dash where there is none. */
export const short = (value) => (value === null ? "–" : String(Number(value.toPrecision(4))));

/** Return the time of day, here, of a moment like 2030-01-31T12:00:00+00:00. */
export const clock = (moment) =>
  new Date(moment).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
