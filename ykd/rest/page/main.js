// SPDX-License-Identifier: Apache-2.0
// The page as a whole: header, tabs, the address after #, and who is told when something changed.

const kViews = ["queues", "nodes", "applications", "history", "changes"];
const kPanelKinds = { queues: "queue", nodes: "node", applications: "application" };
const kThemes = ["auto", "dark", "light"];

class Page {
  constructor() {
    this.partitions = null;
    this.partition = null;
    this.view = "queues";
    this.opened = null;
    this.queueFilter = null;
    this.wanted = {};
    this.wantsPanelFocus = false;
  }

  /// Makes everything; apart from the constructor, because the views look at `page`.
  begin() {
    this.panel = new Panel(byId("panel"));
    const makers = { queues: QueueTree, nodes: NodeMap, applications: Applications, history: HistoryView, changes: Changes };
    this.views = Object.fromEntries(kViews.map((name) => [name, new makers[name](byId(`view-${name}`))]));
    this.beginTheme();
    this.beginTabs();
    byId("partition").addEventListener("change", () => this.choosePartition(byId("partition").value));
    window.addEventListener("hashchange", () => this.readHash());
    const place = make("div");
    byId("view-queues").before(place);
    this.partitionFeed = new Feed({
      address: () => routeAddress(["partitions"]),
      show: (answer) => this.takePartitions(answer),
      what: "the partitions",
      place,
    });
    this.healthFeed = new Feed({
      address: () => routeAddress(["scheduler", "healthcheck"]),
      show: (answer) => this.showHealth(answer),
      what: "the health",
      place: byId("health-list"),
      every: 15000,
      anyStatus: true,
    });
    this.readHash();
    this.partitionFeed.start();
    this.healthFeed.start();
    this.stream = new ChangesStream({
      onChanges: (changes) => this.changes(changes),
      onState: (state, why) => this.showLive(state, why),
      onAll: (restarted) => this.all(restarted),
    });
    setInterval(tickMoments, 5000);
  }

  // Addresses of routes for the partition that is chosen.

  partitionKey() {
    return this.partition ? `[${this.partition.clusterId}]${this.partition.name}` : "";
  }

  pageRoute(parts, query = {}) {
    return this.partition ? routeAddress(["page", ...parts], { ...query, rmID: this.partition.clusterId }) : null;
  }

  partitionPageRoute(what, query) {
    return this.partition ? this.pageRoute(["partition", this.partition.name, what], query) : null;
  }

  partitionRoute(...parts) {
    return this.partition ? routeAddress(["partition", this.partition.name, ...parts], { rmID: this.partition.clusterId }) : null;
  }

  explainRoute(query) {
    return this.partition ? this.pageRoute(["explain"], { ...query, partition: this.partition.name }) : null;
  }

  // The address after #: `#applications/app-1?queue=root.a&partition=default&rmID=rm:1`.

  readHash() {
    const [path, query] = window.location.hash.slice(1).split("?");
    const [view, ...rest] = path.split("/");
    const members = new URLSearchParams(query ?? "");
    let opened = null;
    try {
      opened = rest.length > 0 && rest.join("/") !== "" ? decodeURIComponent(rest.join("/")) : null;
    } catch {
      // An address that was typed wrongly: nothing is open.
    }
    const filter = members.get("queue");
    const filterChanged = filter !== this.queueFilter;
    this.queueFilter = filter;
    this.wanted = { partition: members.get("partition"), rmID: members.get("rmID") };
    this.show(kViews.includes(view) ? view : "queues", opened);
    if (filterChanged) {
      this.views.applications.answer = null;
      this.views.applications.feed.restart();
    }
    if (this.partitions && this.wanted.rmID) this.choosePartition(`[${this.wanted.rmID}]${this.wanted.partition}`);
  }

  go(view, opened = null, { queue = view === this.view ? this.queueFilter : null } = {}) {
    const members = new URLSearchParams();
    if (queue) members.set("queue", queue);
    if (this.partitions?.length > 1 && this.partition) {
      members.set("partition", this.partition.name);
      members.set("rmID", this.partition.clusterId);
    }
    const query = members.toString();
    window.location.hash = view + (opened ? `/${encodeURIComponent(opened)}` : "") + (query ? `?${query}` : "");
  }

  /// Opens the panel of something in the present view, or closes it; `focus`: the keyboard goes to the panel.
  open(name, focus = false) {
    this.wantsPanelFocus = focus && name !== null;
    if (this.wantsPanelFocus && name === this.opened) {
      this.wantsPanelFocus = false;
      this.panel.heading.focus();
    }
    this.go(this.view, name);
  }

  show(view, opened) {
    const changed = view !== this.view || !this.shownOnce;
    this.shownOnce = true;
    this.view = view;
    this.opened = opened;
    for (const name of kViews) {
      const tab = byId(`tab-${name}`);
      tab.setAttribute("aria-selected", String(name === view));
      tab.tabIndex = name === view ? 0 : -1;
      byId(`view-${name}`).hidden = name !== view || this.partition === null;
      if (changed && name !== view) for (const feed of this.views[name].feeds) feed.stop();
    }
    document.title = `ykd ${view}`;
    const kind = kPanelKinds[view];
    this.panel.show(kind ?? "", kind && this.partition ? opened : null);
    if (changed && this.partition) for (const feed of this.views[view].feeds) feed.start();
    this.views[view].opened(opened);
  }

  focusView() {
    this.views[this.view].focus();
  }

  // What the daemon says of itself.

  takePartitions(answer) {
    this.partitions = (answer ?? []).map((partition) => ({ ...partition, key: `[${partition.clusterId}]${partition.name}` }));
    const select = byId("partition");
    const keys = this.partitions.map((partition) => partition.key);
    if (select.dataset.keys !== JSON.stringify(keys)) {
      select.dataset.keys = JSON.stringify(keys);
      select.replaceChildren(
        ...this.partitions.map((partition) =>
          make("option", { value: partition.key, text: `${partition.name} of ${partition.clusterId}` }),
        ),
      );
    }
    byId("partition-choice").hidden = keys.length === 0;
    this.showWelcome(keys.length === 0);
    const present = this.partition?.key ?? (this.wanted.rmID ? `[${this.wanted.rmID}]${this.wanted.partition}` : null);
    this.choosePartition(keys.includes(present) ? present : (keys[0] ?? null));
    this.showTotals();
  }

  choosePartition(key) {
    const before = this.partition?.key ?? null;
    const found = this.partitions.find((partition) => partition.key === key) ?? null;
    if (!found && key !== null) return;
    this.partition = found;
    byId("partition").value = key ?? "";
    if (key === before) return;
    for (const name of kViews) {
      this.views[name].reset();
      for (const feed of this.views[name].feeds) {
        feed.stop();
        feed.restart();
      }
    }
    this.shownOnce = false;
    this.show(this.view, before === null ? this.opened : null);
    this.showTotals();
    if (before !== null && key !== null) this.go(this.view, null, { queue: null });
  }

  showWelcome(empty) {
    const welcome = byId("welcome");
    welcome.hidden = !empty;
    if (empty && !welcome.firstChild) {
      const commands = [
        ["ykctl replay gen DIR", "makes a trace of a cluster"],
        ["ykctl replay --keep --nodes DIR/nodes.csv --pods DIR/pods.csv", "plays it"],
        ["ykctl rm register NAME", "registers a resource manager by hand"],
      ];
      const lines = commands.map(([command, meaning]) =>
        make("li", {}, make("span", { class: "quiet-text", text: meaning }), make("code", { text: command })),
      );
      welcome.append(
        emptyNote(
          "No resource manager has registered yet.",
          "Queues, nodes and applications appear here when one does. To try it out:",
        ),
        make("ul", { class: "commands" }, lines),
      );
    }
  }

  showTotals() {
    const partition = this.partition;
    const totals = partition
      ? [
          ["nodes", partition.totalNodes ?? 0],
          ["applications", partition.applications?.total ?? 0],
          ["allocations", partition.totalContainers ?? 0],
          ["pending asks", partition.pendingAsks ?? 0],
        ]
      : [];
    byId("totals").replaceChildren(
      ...totals.map(([name, count]) => make("li", {}, make("strong", { text: formatCount(count) }), ` ${count === 1 ? name.slice(0, -1) : name}`)),
      ...(partition && partition.state !== "Active" ? [make("li", {}, badge(partition.state, stateTone(partition.state)))] : []),
    );
  }

  showHealth(answer) {
    const checks = [...(answer.HealthChecks ?? []), ...(answer.FurtherChecks ?? [])];
    if (answer.Healthy === undefined) throw new RouteError(0, answer.message ?? "there is no health check yet");
    const failed = checks.filter((check) => !check.Succeeded);
    byId("health").querySelector("summary .dot").dataset.tone = answer.Healthy ? "good" : "bad";
    setText(byId("health-text"), answer.Healthy ? "Healthy" : `Unhealthy: ${failed.length} of ${checks.length} checks failed`);
    byId("health-list").replaceChildren(
      make(
        "ul",
        {},
        [...failed, ...checks.filter((check) => check.Succeeded)].map((check) =>
          make(
            "li",
            {},
            badge(check.Succeeded ? "good" : "failed", check.Succeeded ? "good" : "bad"),
            make("strong", { text: check.Name ?? "" }),
            make("span", {
              class: "quiet-text",
              text: check.Succeeded ? (check.Description ?? "") : check.DiagnosisMessage || check.Description || "",
            }),
          ),
        ),
      ),
      make("p", { class: "quiet-text" }, "Checked ", momentElement(answer.At)),
    );
  }

  showLive(state, why) {
    byId("live-dot").dataset.tone = { live: "good", reconnecting: "wait", stopped: "bad" }[state];
    setText(byId("live-text"), why ? `${state}: ${why}` : state);
  }

  // Changes: feeds of the present view and the panel load again, those of others remember that they must.

  changes(changes) {
    this.partitionFeed.changed();
    this.healthFeed.changed();
    for (const name of kViews) for (const feed of this.views[name].feeds) if (changes.more || feed.wants(changes)) feed.changed();
    this.panel.changes(changes);
  }

  /// Everything may be another.
  all(restarted) {
    for (const feed of Feed.all) {
      if (restarted) feed.restart();
      else feed.changed();
    }
  }

  // Tabs and keys.

  beginTabs() {
    const list = document.querySelector("[role=tablist]");
    const tabs = kViews.map((name) => byId(`tab-${name}`));
    kViews.forEach((name, at) => {
      tabs[at].addEventListener("click", () => this.go(name));
      tabs[at].setAttribute("aria-keyshortcuts", String(at + 1));
    });
    list.addEventListener("keydown", (event) => {
      const at = kViews.indexOf(this.view);
      const moves = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: kViews.length - 1 };
      if (!(event.key in moves)) return;
      event.preventDefault();
      const next = (moves[event.key] + kViews.length) % kViews.length;
      this.go(kViews[next]);
      tabs[next].focus();
    });
    document.addEventListener("keydown", (event) => {
      if (
        event.ctrlKey ||
        event.altKey ||
        event.metaKey ||
        event.target.closest?.("input:not([type=checkbox],[type=radio]), select, textarea")
      )
        return;
      const name = kViews[Number(event.key) - 1];
      if (!name) return;
      event.preventDefault();
      this.go(name);
      byId(`tab-${name}`).focus();
    });
    // What the browser does with the link to the content would lose the view's address.
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault();
      this.focusView();
    });
  }

  // Dark or light: as the system has it, or as it was chosen.

  beginTheme() {
    this.systemDark = window.matchMedia("(prefers-color-scheme: dark)");
    this.systemDark.addEventListener("change", () => this.applyTheme());
    try {
      this.theme = window.localStorage.getItem("ykd-theme");
    } catch {
      // Storage may be forbidden; then nothing is kept.
    }
    if (!kThemes.includes(this.theme)) this.theme = "auto";
    byId("theme").addEventListener("click", () => {
      this.theme = kThemes[(kThemes.indexOf(this.theme) + 1) % kThemes.length];
      try {
        window.localStorage.setItem("ykd-theme", this.theme);
      } catch {
        // As above.
      }
      this.applyTheme();
    });
    this.applyTheme();
  }

  applyTheme() {
    const dark = this.theme === "dark" || (this.theme === "auto" && this.systemDark.matches);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    setText(byId("theme"), `Theme: ${this.theme}`);
    this.views.nodes.themeChanged();
  }
}

const page = new Page();
page.begin();
