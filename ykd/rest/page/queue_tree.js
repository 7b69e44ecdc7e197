// SPDX-License-Identifier: Apache-2.0
// The view of queues: a tree with bars of use. Only the rows in sight have elements, so that 10,000 queues are no burden.

const kRowHeight = 32;
const kNarrowRowHeight = 52;
const kBarHeight = 18;
const kRowsBeyond = 8;

/// What is shown of a queue, made once for each answer: its place in the tree, its counts, and for each resource
/// {name, used, pending, guaranteed, end, limited}; `end` is its maximum, else the cluster's total (then not `limited`).
class QueueRow {
  constructor(queue, parent, total, position, siblings) {
    this.queue = queue;
    this.path = queue.queuename;
    this.parent = parent;
    this.level = parent ? parent.level + 1 : 1;
    this.position = position;
    this.siblings = siblings;
    this.name = parent && this.path.startsWith(`${parent.path}.`) ? this.path.slice(parent.path.length + 1) : this.path;
    const children = queue.children ?? [];
    this.children = children.map((child, at) => new QueueRow(child, this, total, at + 1, children.length));
    const below = (member) => this.children.reduce((sum, child) => sum + child[member], 0);
    this.running = queue.runningApps ?? below("running");
    this.accepted = this.children.length > 0 ? below("accepted") : Math.max(0, (queue.applications ?? 0) - this.running);
    const {
      allocatedResource: used = {},
      pendingResource: pending = {},
      guaranteedResource: guaranteed = {},
      maxResource: max = {},
    } = queue;
    this.bars = sortedResources([used, pending, guaranteed, max, total]).map((name) => {
      const most = amountOf(max, name);
      const limited = most !== undefined && parent !== null;
      return {
        name,
        used: amountOf(used, name) ?? 0,
        pending: amountOf(pending, name) ?? 0,
        guaranteed: amountOf(guaranteed, name) ?? null,
        end: limited ? most : (amountOf(total, name) ?? most ?? 0),
        limited,
      };
    });
    const weight = (bar) => (bar.end > 0 ? bar.used / bar.end + Math.min(1, bar.pending / bar.end) * 1e-6 : bar.used > 0 ? 1 : 0);
    this.dominant = this.bars.reduce((best, bar) => (best === null || weight(bar) > weight(best) ? bar : best), null);
  }

  get expandable() {
    return this.children.length > 0 || this.bars.length > 1;
  }
}

/// A bar: used is filled, pending hatched behind it, guaranteed a mark, the end is the maximum or (dashed) the cluster.
function queueBar(bar) {
  const part = (amount) => (bar.end > 0 ? Math.min(1, Math.max(0, amount / bar.end)) : amount > 0 ? 1 : 0);
  const percent = (share) => `${(share * 100).toFixed(2)}%`;
  const used = part(bar.used);
  const track = make("span", { class: `track${bar.limited ? " limited" : ""}`, "aria-hidden": "true" });
  const pending = make("span", { class: "pending" });
  pending.style.left = percent(used);
  pending.style.width = percent(Math.max(0, part(bar.used + bar.pending) - used));
  const filled = make("span", { class: `used${bar.end > 0 && bar.used > bar.end ? " over" : ""}` });
  filled.style.width = percent(used);
  track.append(pending, filled);
  if (bar.guaranteed !== null) {
    const mark = make("span", { class: "guaranteed" });
    mark.style.left = percent(part(bar.guaranteed));
    track.append(mark);
  }
  const share = bar.end > 0 ? formatShare(bar.used / bar.end) : "–";
  return make(
    "span",
    { class: "bar", title: barText(bar) },
    make("span", { class: "bar-name", text: resourceTitle(bar.name) }),
    track,
    make("span", { class: "bar-amount", text: `${formatAmount(bar.name, bar.used)} / ${formatAmount(bar.name, bar.end)}` }),
    make("span", { class: "bar-share", text: share }),
  );
}

function barText(bar) {
  const parts = [
    `${resourceTitle(bar.name)}: used ${formatAmount(bar.name, bar.used)} of ${formatAmount(bar.name, bar.end)}` +
      (bar.limited ? " (maximum)" : " (cluster)"),
  ];
  if (bar.pending > 0) parts.push(`pending ${formatAmount(bar.name, bar.pending)}`);
  if (bar.guaranteed !== null) parts.push(`guaranteed ${formatAmount(bar.name, bar.guaranteed)}`);
  return parts.join(", ");
}

class QueueTree {
  constructor(view) {
    this.view = view;
    this.expanded = new Set();
    this.root = null;
    this.byPath = new Map();
    this.rows = [];
    this.shown = new Map();
    this.openByFilter = new Set();
    this.offsets = [0];
    this.current = null;
    this.filter = "";
    this.typed = "";
    this.narrow = window.matchMedia("(max-width: 700px)");
    this.narrow.addEventListener("change", () => this.layOut());
    this.search = make("input", {
      type: "search",
      placeholder: "Filter by name",
      "aria-label": "Filter queues by name",
      autocomplete: "off",
      spellcheck: "false",
      on: { input: () => this.setFilter(this.search.value) },
    });
    this.count = make("span", { class: "quiet-text", role: "status" });
    this.spacer = make("div", { class: "tree-rows", role: "presentation" });
    this.tree = make(
      "div",
      {
        class: "tree",
        role: "tree",
        tabindex: "0",
        "aria-label": "Queues",
        on: {
          keydown: (event) => this.key(event),
          click: (event) => this.clicked(event),
          scroll: () => this.render(),
          focus: () => this.markCurrent(),
          blur: () => this.markCurrent(),
        },
      },
      this.spacer,
    );
    this.feedPlace = make("div");
    this.content = make(
      "div",
      { class: "fill" },
      make(
        "div",
        { class: "toolbar" },
        this.search,
        make("button", { type: "button", class: "quiet", text: "Expand all", on: { click: () => this.expandAll(true) } }),
        make("button", { type: "button", class: "quiet", text: "Collapse", on: { click: () => this.expandAll(false) } }),
        this.count,
        barLegend(),
      ),
      make(
        "div",
        { class: "tree-head", "aria-hidden": "true" },
        make("span", { text: "Queue" }),
        make("span", { text: "State" }),
        make("span", { class: "number", text: "Run/acc" }),
        make("span", { text: "Use of the dominant resource" }),
      ),
      this.tree,
    );
    this.content.hidden = true;
    view.append(this.feedPlace, this.content);
    new ResizeObserver(() => this.render()).observe(this.tree);
    this.feed = new Feed({
      address: () => page.partitionRoute("queues"),
      show: (answer) => this.take(answer),
      what: "the queues",
      place: this.feedPlace,
    });
    this.feed.wants = (changes) => changes.queues?.length > 0 || changes.applications?.length > 0;
  }

  get feeds() {
    return [this.feed];
  }

  reset() {
    this.root = null;
    this.content.hidden = true;
    this.byPath.clear();
    this.expanded.clear();
    this.current = null;
    this.layOut();
  }

  take(answer) {
    const first = this.root === null;
    this.content.hidden = false;
    const queue = Array.isArray(answer) ? answer[0] : answer;
    this.root = queue ? new QueueRow(queue, null, queue.maxResource ?? queue.effectiveMaxResource ?? {}, 1, 1) : null;
    this.byPath.clear();
    const note = (row) => {
      this.byPath.set(row.path, row);
      row.children.forEach(note);
    };
    if (this.root) note(this.root);
    if (first && this.root) this.expanded.add(this.root.path);
    if (first && page.opened) this.reveal(page.opened, true);
    this.layOut();
    page.panel.update?.();
  }

  setFilter(text) {
    this.filter = text.trim().toLowerCase();
    this.layOut();
    this.tree.scrollTop = 0;
    this.render();
  }

  expandAll(open) {
    this.expanded.clear();
    if (open) for (const [path, row] of this.byPath) if (row.children.length > 0) this.expanded.add(path);
    if (!open && this.root) this.expanded.add(this.root.path);
    this.layOut();
  }

  /// Which rows there are and where each begins.
  layOut() {
    const rows = [];
    const matches = (row) => row.path.toLowerCase().includes(this.filter);
    const walk = (row) => {
      rows.push(row);
      if (this.expanded.has(row.path)) row.children.forEach(walk);
    };
    let found = 0;
    this.openByFilter.clear();
    const walkMatching = (row) => {
      const at = rows.length;
      rows.push(row);
      row.children.forEach(walkMatching);
      const matching = matches(row);
      if (matching) found += 1;
      if (rows.length > at + 1) this.openByFilter.add(row.path);
      else if (!matching) rows.pop();
    };
    if (this.root) (this.filter ? walkMatching : walk)(this.root);
    const all = countOf(this.byPath.size, "queue", "queues");
    setText(this.count, this.filter ? `${formatCount(found)} of ${all}` : all);
    this.rows = rows;
    const base = this.narrow.matches ? kNarrowRowHeight : kRowHeight;
    this.offsets = [0];
    for (const row of rows) {
      const bars = this.showsAll(row) ? Math.max(1, row.bars.length) : 1;
      this.offsets.push(this.offsets[this.offsets.length - 1] + base + (bars - 1) * kBarHeight);
    }
    if (!rows.some((row) => row.path === this.current)) this.current = rows[0]?.path ?? null;
    this.spacer.style.height = `${this.offsets[rows.length]}px`;
    this.tree.hidden = rows.length === 0 && !this.filter;
    this.render();
  }

  showsAll(row) {
    return this.expanded.has(row.path);
  }

  /// Whether what is below a row is shown; a filter opens rows of its own accord.
  isOpen(row) {
    return this.expanded.has(row.path) || this.openByFilter.has(row.path);
  }

  indexAt(offset) {
    let low = 0;
    let high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.offsets[middle + 1] <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  render() {
    const begin = Math.max(0, this.indexAt(this.tree.scrollTop) - kRowsBeyond);
    const end = Math.min(this.rows.length, this.indexAt(this.tree.scrollTop + this.tree.clientHeight) + 1 + kRowsBeyond);
    const elements = [];
    const shown = new Map();
    for (let index = begin; index < end; index += 1) {
      const entry = this.rowEntry(this.rows[index], index);
      shown.set(this.rows[index].path, entry);
      elements.push(entry.element);
    }
    const children = this.spacer.children;
    const same = elements.length === children.length && elements.every((element, at) => element === children[at]);
    if (!same) this.spacer.replaceChildren(...elements);
    this.shown = shown;
    this.markCurrent();
  }

  /// The element of a row: the one that is there already, when nothing of it is another.
  rowEntry(row, index) {
    const bars = this.showsAll(row) ? row.bars : row.dominant ? [row.dominant] : [];
    const label = `${row.name}, ${row.queue.status}, ${row.running} running, ${row.accepted} accepted. ` + bars.map(barText).join(". ");
    const place = [index, this.offsets[index], this.offsets[index + 1], row.position, row.siblings, row.expandable];
    const mark = [...place, this.isOpen(row), page.opened === row.path, label].join(" ");
    const before = this.shown.get(row.path);
    return before?.mark === mark ? before : { mark, element: this.rowElement(row, index, bars, label) };
  }

  rowElement(row, index, bars, label) {
    const expanded = this.isOpen(row);
    const caret = make("span", { class: "caret", "aria-hidden": "true" });
    const element = make(
      "div",
      {
        class: "tree-row",
        role: "treeitem",
        id: `queue-row-${index}`,
        "aria-level": row.level,
        "aria-setsize": row.siblings,
        "aria-posinset": row.position,
        "aria-expanded": row.expandable ? String(expanded) : null,
        "aria-selected": String(page.opened === row.path),
        "aria-label": label,
        data: { path: row.path },
      },
      make(
        "span",
        { class: "queue-name", title: row.path },
        caret,
        make("span", { class: "cut", text: row.name }),
        row.queue.isManaged === false ? make("span", { class: "tag", text: "dynamic" }) : null,
      ),
      make("span", { class: "queue-state" }, badge(row.queue.status ?? "", stateTone(row.queue.status))),
      make("span", { class: "queue-apps number", text: `${formatCount(row.running)} / ${formatCount(row.accepted)}` }),
      make("span", { class: "bars" }, bars.map(queueBar)),
    );
    element.style.top = `${this.offsets[index]}px`;
    element.style.height = `${this.offsets[index + 1] - this.offsets[index]}px`;
    element.firstChild.style.paddingLeft = `${Math.min(row.level - 1, 12) * 16}px`;
    return element;
  }

  markCurrent() {
    const focused = document.activeElement === this.tree;
    let found = null;
    for (const element of this.spacer.children) {
      const own = element.dataset.path === this.current;
      if (own) found = element;
      element.classList.toggle("current", own && focused);
    }
    if (found) this.tree.setAttribute("aria-activedescendant", found.id);
    else this.tree.removeAttribute("aria-activedescendant");
  }

  /// Puts the cursor on a row and brings it into sight.
  go(index) {
    const row = this.rows[Math.max(0, Math.min(this.rows.length - 1, index))];
    if (!row) return;
    this.current = row.path;
    const at = this.rows.indexOf(row);
    if (this.offsets[at] < this.tree.scrollTop) this.tree.scrollTop = this.offsets[at];
    else if (this.offsets[at + 1] > this.tree.scrollTop + this.tree.clientHeight)
      this.tree.scrollTop = this.offsets[at + 1] - this.tree.clientHeight;
    this.render();
  }

  /// Opens what is above a queue, so that its row is there.
  reveal(path, scroll) {
    const row = this.byPath.get(path);
    if (!row) return;
    for (let above = row.parent; above; above = above.parent) this.expanded.add(above.path);
    this.current = path;
    this.layOut();
    if (scroll) this.go(this.rows.indexOf(row));
  }

  setExpanded(row, open) {
    if (open) this.expanded.add(row.path);
    else this.expanded.delete(row.path);
    this.layOut();
  }

  /// The keys of a tree as WAI-ARIA says: arrows, Home, End, Enter, *, letters.
  key(event) {
    const at = this.rows.findIndex((row) => row.path === this.current);
    const row = this.rows[at];
    if (!row || event.ctrlKey || event.altKey || event.metaKey) return;
    const open = this.expanded.has(row.path);
    const leap = Math.max(1, Math.floor(this.tree.clientHeight / kRowHeight) - 1);
    if (event.key === "ArrowDown") this.go(at + 1);
    else if (event.key === "ArrowUp") this.go(at - 1);
    else if (event.key === "PageDown") this.go(at + leap);
    else if (event.key === "PageUp") this.go(at - leap);
    else if (event.key === "Home") this.go(0);
    else if (event.key === "End") this.go(this.rows.length - 1);
    else if (event.key === "ArrowRight" && row.expandable && !open) this.setExpanded(row, true);
    else if (event.key === "ArrowRight" && row.children.length > 0) this.go(at + 1);
    else if (event.key === "ArrowLeft" && open) this.setExpanded(row, false);
    else if (event.key === "ArrowLeft" && row.parent) this.go(this.rows.indexOf(row.parent));
    else if (event.key === "Enter" || event.key === " ") page.open(row.path, event.key === "Enter");
    else if (event.key === "*") {
      for (const sibling of row.parent?.children ?? [row]) if (sibling.expandable) this.expanded.add(sibling.path);
      this.layOut();
    } else if (event.key.length === 1 && !/[1-5]/.test(event.key)) this.typeAhead(event.key, at);
    else return;
    event.preventDefault();
  }

  typeAhead(letter, at) {
    clearTimeout(this.typedTimer);
    this.typedTimer = setTimeout(() => {
      this.typed = "";
    }, 700);
    this.typed += letter.toLowerCase();
    for (let step = this.typed.length > 1 ? 0 : 1; step <= this.rows.length; step += 1) {
      const index = (at + step) % this.rows.length;
      if (this.rows[index].name.toLowerCase().startsWith(this.typed)) {
        this.go(index);
        return;
      }
    }
  }

  clicked(event) {
    const row = this.byPath.get(event.target.closest(".tree-row")?.dataset.path);
    if (!row) return;
    this.current = row.path;
    if (event.target.closest(".caret")) this.setExpanded(row, !this.expanded.has(row.path));
    else page.open(row.path);
  }

  /// Another queue is open, or none.
  opened(path) {
    if (path) this.reveal(path, false);
    this.render();
  }

  focus() {
    this.tree.focus();
  }
}

function barLegend() {
  const item = (name, text) =>
    make("span", { class: "legend-item" }, make("span", { class: `legend-mark ${name}`, "aria-hidden": "true" }), text);
  return make(
    "span",
    { class: "bar-legend" },
    item("used", "used"),
    item("pending", "pending"),
    item("guaranteed", "guaranteed"),
    item("limited", "ends at maximum"),
    item("open", "ends at cluster"),
  );
}
