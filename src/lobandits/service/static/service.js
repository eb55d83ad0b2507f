// The HTTP interface; the key stays in this tab's memory.

export const key = {
  read: () => sessionStorage.getItem("key"),
  keep: (value) => sessionStorage.setItem("key", value),
  forget: () => sessionStorage.removeItem("key"),
};

export const isAboutKeys = (error) => error.status === 401 || error.status === 403;

/** Ask the service; throw an error that can be shown, with `status` where there is one. */
export async function ask(path) {
  const headers = key.read() ? { Authorization: `Bearer ${key.read()}` } : {};
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
