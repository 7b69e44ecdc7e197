// SPDX-License-Identifier: Apache-2.0
// The daemon's routes. A Feed loads one of them, again when something changed or failed, and only while somebody can see it.

const kRoutes = "/ws/v1/";
const kLeastPause = 2000;
const kLongestPause = 30000;

/// A refusal of the daemon, or that it cannot be reached.
class RouteError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/// A part of a path. It is escaped twice, since proxies and browsers take slashes and dots that are escaped once for what they are.
function pathPart(text) {
  return encodeURIComponent(encodeURIComponent(text).replace(/^\.{1,2}$/, (dots) => dots.replaceAll(".", "%2E")));
}

/// The address of a route: its parts are escaped one by one, members of `query` that are empty left out.
function routeAddress(parts, query = {}) {
  const path = kRoutes + parts.map(pathPart).join("/");
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return text ? `${path}?${text}` : path;
}

/// The message that a refusal has in its body; else its text, else its number.
function refusalText(status, body) {
  try {
    const message = JSON.parse(body).message;
    if (typeof message === "string" && message) return message;
  } catch {
    // It is not JSON, but a line of text.
  }
  const line = body.trim().split("\n")[0].slice(0, 200);
  return line && !line.startsWith("<") ? line : `the answer was ${status}`;
}

/// Loads a route. `anyStatus`: an answer in JSON is good whatever its status (a failed health check comes with 503). `onHeaders`
/// is called with the headers of the answer.
async function fetchJson(address, signal, anyStatus, onHeaders) {
  let response;
  let body;
  try {
    response = await fetch(address, { signal, headers: { Accept: "application/json" }, cache: "no-store" });
    body = await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new RouteError(0, "the daemon cannot be reached");
  }
  onHeaders?.(response.headers);
  const date = Date.parse(response.headers.get("Date") ?? "");
  if (!Number.isNaN(date)) clockAhead = Math.abs(date - Date.now()) > 5000 ? date - Date.now() : 0;
  if (!response.ok && !anyStatus) throw new RouteError(response.status, refusalText(response.status, body));
  try {
    return JSON.parse(body);
  } catch {
    throw new RouteError(response.status, response.ok ? "the answer is not JSON" : refusalText(response.status, body));
  }
}

/// One route that is shown somewhere.
///   address  a function: the address, or null when there is nothing to load now
///   show     takes the answer
///   what     what is loaded, for a message about an error: "the nodes"
///   place    the element in which errors are told
///   every    the least time between two loads, in ms
class Feed {
  constructor({ address, show, what, place, every = kLeastPause, anyStatus = false }) {
    Object.assign(this, { address, show, what, place, every, anyStatus });
    this.active = false;
    this.stale = true;
    this.timer = null;
    this.loading = null;
    this.failures = 0;
    this.startedAt = -Infinity;
    this.changedAt = performance.now(); // what it shows has to be of a later moment
    this.keptUntil = -Infinity; // the daemon gives the same answer again
    this.took = 0;
    Feed.all.add(this);
  }

  /// Somebody looks at it from now on.
  start() {
    this.active = true;
    this.plan();
  }

  stop() {
    this.active = false;
    this.abort();
  }

  /// What it shows may be another now.
  changed() {
    this.stale = true;
    this.changedAt = performance.now();
    this.plan();
  }

  /// It is about something else now: load that at once.
  restart() {
    this.abort();
    this.stale = true;
    this.failures = 0;
    this.startedAt = -Infinity;
    this.changedAt = performance.now();
    this.keptUntil = -Infinity;
    this.took = 0;
    this.tell(null);
    this.plan();
  }

  /// It is not needed any more.
  end() {
    this.stop();
    Feed.all.delete(this);
  }

  abort() {
    clearTimeout(this.timer);
    this.timer = null;
    if (this.loading) this.stale = true;
    this.loading?.abort();
    this.loading = null;
  }

  /// Loads when that is due: at most once in `every`, and seldom when an answer takes long.
  plan() {
    if (!this.active || !this.stale || this.timer !== null || this.loading || document.hidden) return;
    const pause = Math.max(this.every, Math.min(10 * this.took, kLongestPause));
    const due =
      this.failures > 0
        ? Math.min(kLongestPause, kLeastPause * 2 ** (this.failures - 1))
        : Math.max(this.startedAt + pause, this.keptUntil) - performance.now();
    this.timer = setTimeout(
      () => {
        this.timer = null;
        this.load();
      },
      Math.max(0, due),
    );
  }

  async load() {
    const address = this.address();
    if (!address || document.hidden) return;
    const mine = new AbortController();
    this.loading = mine;
    this.startedAt = performance.now();
    this.stale = false;
    try {
      let age = 0;
      let kept = 0;
      const answer = await fetchJson(address, mine.signal, this.anyStatus, (headers) => {
        age = Number(headers.get("Answer-Age") ?? 0);
        kept = Number(headers.get("Answer-Kept") ?? 0);
      });
      if (this.loading !== mine) return;
      this.show(answer);
      // An answer that was made for another page may be of a moment before the change.
      const isOld = this.startedAt - age < this.changedAt;
      this.keptUntil = isOld ? performance.now() + kept : -Infinity;
      this.stale ||= isOld;
      this.took = performance.now() - this.startedAt;
      this.failures = 0;
      this.tell(null);
    } catch (error) {
      if (this.loading !== mine) return;
      this.stale = true;
      this.failures += 1;
      this.tell(error);
      if (!(error instanceof RouteError)) console.error(error);
    }
    this.loading = null;
    this.plan();
  }

  /// Says in its place what is wrong, or takes that away.
  tell(error) {
    if (!this.place) return;
    this.note?.remove();
    this.note = null;
    if (!error) return;
    const text = error instanceof RouteError ? error.message : "the answer is not as expected";
    this.note = make(
      "div",
      { class: "error", role: "status" },
      make("span", { text: `Could not load ${this.what}: ${text}. It is tried again by itself.` }),
      make("button", { type: "button", class: "quiet", text: "Try now", on: { click: () => this.restart() } }),
    );
    this.place.prepend(this.note);
  }
}
Feed.all = new Set();

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) for (const feed of Feed.all) feed.plan();
});
