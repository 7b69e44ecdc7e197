// SPDX-License-Identifier: Apache-2.0
// The stream that says what changed in the daemon. The page never asks at intervals; it waits for this.

const kHiddenGrace = 60000;
const kStreamAddress = `${kRoutes}page/changes`;

/// Calls `onChanges` with {applications, nodes, queues, more}, `onState` with live, reconnecting or stopped and, if it was refused,
/// why, and `onAll` when everything may be another: after a gap, and when the daemon was started anew.
class ChangesStream {
  constructor({ onChanges, onState, onAll }) {
    Object.assign(this, { onChanges, onState, onAll });
    this.source = null;
    this.instance = null;
    this.gap = true; // what was loaded before the stream began may be older than that
    this.attempts = 0;
    this.timer = null;
    document.addEventListener("visibilitychange", () => this.visibility());
    window.addEventListener("pagehide", () => this.close());
    window.addEventListener("pageshow", (event) => {
      if (event.persisted) this.open();
    });
    this.open();
  }

  open() {
    if (this.source) return;
    clearTimeout(this.timer);
    this.source = new EventSource(kStreamAddress);
    this.source.addEventListener("hello", (event) => this.hello(event));
    this.source.addEventListener("changes", (event) => this.changes(event));
    this.source.addEventListener("error", () => this.lost());
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
    this.gap = true;
  }

  hello(event) {
    const instance = this.read(event)?.InstanceUUID ?? null;
    const restarted = this.instance !== null && instance !== this.instance;
    this.instance = instance;
    this.attempts = 0;
    this.onState("live");
    if (restarted || this.gap) this.onAll(restarted);
    this.gap = false;
  }

  changes(event) {
    const changes = this.read(event);
    this.onChanges(changes ?? { applications: [], nodes: [], queues: [], more: true });
  }

  /// The browser connects again by itself after a break, but not after a refusal; then this does, more and more seldom.
  lost() {
    this.gap = true;
    if (this.source && this.source.readyState !== EventSource.CLOSED) {
      this.onState("reconnecting");
      return;
    }
    this.close();
    this.attempts += 1;
    this.tell(this.attempts < 3 ? "reconnecting" : "stopped");
    this.timer = setTimeout(() => this.open(), Math.min(60000, 2000 * 2 ** this.attempts));
  }

  /// An EventSource does not say why it was refused; who asks in its place is told.
  async tell(state) {
    this.onState(state);
    const asked = new AbortController();
    try {
      const answer = await fetch(kStreamAddress, { signal: asked.signal, cache: "no-store" });
      const why = answer.ok ? null : refusalText(answer.status, await answer.text());
      if (!this.source) this.onState(state, why);
    } catch {
      // There is no daemon; the state says enough.
    }
    asked.abort();
  }

  /// A page that nobody looks at for long gives its connection back.
  visibility() {
    clearTimeout(this.timer);
    if (document.hidden) this.timer = setTimeout(() => this.close(), kHiddenGrace);
    else this.open();
  }

  read(event) {
    try {
      return JSON.parse(event.data);
    } catch {
      return null;
    }
  }
}
