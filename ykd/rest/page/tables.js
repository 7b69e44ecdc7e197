// SPDX-License-Identifier: Apache-2.0
// A table that can be sorted by its headers. Rows keep their elements when data comes anew, so focus and selection stay.

/// A column: key; title; cell(row): a text or an element; sort(row): what to sort by (absent: it cannot be sorted by);
/// number: aligned right; wide: may be cut; descending: the first click sorts the largest first.
/// `keep(row)` is compared with the one before: a row with the same is not built again.
class DataTable {
  constructor({
    label,
    columns,
    rowKey,
    keep,
    onOpen,
    sortBy = null,
    descending = false,
    limit = 1000,
    emptyText = "Nothing to show.",
  }) {
    Object.assign(this, { columns, rowKey, keep, onOpen, sortBy, descending, limit, emptyText });
    this.rows = [];
    this.shown = new Map();
    this.current = null;
    this.headers = new Map();
    const head = make("tr");
    for (const column of columns) {
      const cell = make("th", { scope: "col", class: `column-${column.key}${column.number ? " number" : ""}` });
      if (column.sort)
        cell.append(make("button", { type: "button", text: column.title, on: { click: () => this.sortColumn(column) } }));
      else cell.append(column.title);
      this.headers.set(column.key, cell);
      head.append(cell);
    }
    this.body = make("tbody");
    this.note = make("p", { class: "table-note" });
    this.element = make(
      "div",
      { class: "table-frame" },
      make("table", { "aria-label": label }, make("thead", {}, head), this.body),
      this.note,
    );
    if (onOpen) {
      this.body.addEventListener("click", (event) => this.clicked(event));
      this.body.addEventListener("keydown", (event) => this.moved(event));
    }
    this.markHeaders();
  }

  sortColumn(column) {
    this.descending = this.sortBy === column.key ? !this.descending : Boolean(column.descending);
    this.sortBy = column.key;
    this.markHeaders();
    this.fill();
  }

  markHeaders() {
    for (const column of this.columns) {
      if (!column.sort) continue;
      const order = column.key !== this.sortBy ? "none" : this.descending ? "descending" : "ascending";
      this.headers.get(column.key).setAttribute("aria-sort", order);
    }
  }

  /// Shows these rows; `note` is said below them.
  setRows(rows, note = "") {
    this.rows = rows;
    this.noteText = note;
    this.fill();
  }

  setCurrent(key) {
    this.current = key;
    for (const [rowKey, entry] of this.shown) {
      if (rowKey === key) entry.element.setAttribute("aria-current", "true");
      else entry.element.removeAttribute("aria-current");
    }
  }

  sorted() {
    const column = this.columns.find((candidate) => candidate.key === this.sortBy);
    if (!column) return this.rows;
    const sign = this.descending ? -1 : 1;
    return [...this.rows].sort((left, right) => {
      const first = column.sort(left);
      const second = column.sort(right);
      const order =
        typeof first === "number" && typeof second === "number"
          ? first - second
          : kNatural.compare(String(first ?? ""), String(second ?? ""));
      return sign * order || kNatural.compare(this.rowKey(left), this.rowKey(right));
    });
  }

  fill() {
    const rows = this.sorted().slice(0, this.limit);
    const shown = new Map();
    const elements = [];
    for (const row of rows) {
      const key = this.rowKey(row);
      const mark = this.keep ? this.keep(row) : JSON.stringify(row);
      let entry = this.shown.get(key);
      if (!entry) entry = { element: make("tr", { data: { key } }), mark: null };
      if (entry.mark !== mark) this.build(entry, row, mark);
      entry.row = row;
      shown.set(key, entry);
      elements.push(entry.element);
    }
    const active = document.activeElement;
    const held = this.body.contains(active) ? active : null;
    const same = elements.length === this.body.children.length && elements.every((element, at) => element === this.body.children[at]);
    if (!same) this.body.replaceChildren(...elements);
    this.shown = shown;
    if (held && held.isConnected && document.activeElement !== held) held.focus({ preventScroll: true });
    this.setCurrent(this.current);
    setText(this.note, this.noteText || (rows.length === 0 ? this.emptyText : ""));
    this.note.hidden = !this.note.textContent;
  }

  build(entry, row, mark) {
    const hadFocus = entry.element.contains(document.activeElement);
    entry.mark = mark;
    entry.element.replaceChildren(
      ...this.columns.map((column, at) => {
        const content = column.cell(row) ?? "–";
        const classes = `column-${column.key}${column.number ? " number" : ""}${column.wide ? " wide" : ""}`;
        const cell = make(at === 0 ? "th" : "td", { class: classes, scope: at === 0 ? "row" : null });
        if (at === 0 && this.onOpen) {
          cell.append(make("button", { type: "button", class: "link", text: content }));
        } else {
          cell.append(content instanceof Node ? content : readable(content));
        }
        if (typeof content === "string" && (column.wide || at === 0)) cell.title = readable(content);
        return cell;
      }),
    );
    if (hadFocus) entry.element.querySelector("button")?.focus({ preventScroll: true });
  }

  clicked(event) {
    const line = event.target.closest("tr");
    const entry = line && this.shown.get(line.dataset.key);
    if (!entry) return;
    if (event.target.closest("button") || !window.getSelection().toString()) this.onOpen(entry.row);
  }

  /// Arrow keys go from row to row.
  moved(event) {
    const line = event.target.closest("tr");
    const next = event.key === "ArrowDown" ? line?.nextElementSibling : event.key === "ArrowUp" ? line?.previousElementSibling : null;
    if (!next) return;
    event.preventDefault();
    next.querySelector("button")?.focus();
  }
}

/// What every list of allocations has, whether of a node or of an application.
const kAllocationColumns = {
  key: { key: "key", title: "Key", wide: true, sort: (one) => one.allocationKey, cell: (one) => one.allocationKey },
  resource: { key: "resource", title: "Resources", cell: (one) => formatResource(one.resource) },
  since: {
    key: "since",
    title: "Since",
    number: true,
    descending: true,
    sort: (one) => one.allocationTime ?? 0,
    cell: (one) => momentElement(one.allocationTime, ""),
  },
};
