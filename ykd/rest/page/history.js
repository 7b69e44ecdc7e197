// SPDX-License-Identifier: Apache-2.0
// The view of history: how much of the cluster each queue used, over an hour, a day or 30 days.

const kPreselected = 8;
const kListedQueues = 200;
const kTableSamples = 60;

class HistoryView {
  constructor(view) {
    this.view = view;
    this.answer = null;
    this.span = "hour";
    this.chosen = null;
    this.colours = new Map();
    this.spans = make(
      "fieldset",
      { class: "segments" },
      make("legend", { class: "hidden-text", text: "Span" }),
      [
        ["hour", "Hour"],
        ["day", "Day"],
        ["month", "30 days"],
      ].map(([span, title]) =>
        make(
          "label",
          {},
          make("input", {
            type: "radio",
            name: "span",
            value: span,
            checked: span === "hour",
            on: { change: () => this.setSpan(span) },
          }),
          make("span", { text: title }),
        ),
      ),
    );
    this.chart = new TimeLine({
      label: "Share of the cluster that each chosen queue uses",
      chartHeight: (width) => Math.max(220, Math.min(620, window.innerHeight - 300, width * 0.7)),
    });
    this.search = make("input", {
      type: "search",
      placeholder: "Filter queues",
      "aria-label": "Filter queues by name",
      autocomplete: "off",
      spellcheck: "false",
      on: { input: () => this.showList() },
    });
    this.list = make("fieldset", { class: "queue-list" }, make("legend", { class: "hidden-text", text: "Queues in the chart" }));
    this.listNote = make("p", { class: "quiet-text" });
    this.rows = make("div");
    this.details = make(
      "details",
      { class: "as-table", on: { toggle: () => this.showTable() } },
      make("summary", { text: "As a table" }),
      this.rows,
    );
    this.feedPlace = make("div");
    this.empty = make(
      "div",
      { hidden: true },
      emptyNote(
        "There are no samples yet.",
        "The daemon keeps one every few seconds from its start on; the first appear here by themselves.",
      ),
    );
    this.content = make(
      "div",
      { class: "history", hidden: true },
      make("div", { class: "history-main" }, this.chart.element, this.details),
      make(
        "div",
        { class: "history-side" },
        make(
          "div",
          { class: "toolbar tight" },
          this.search,
          make("button", { type: "button", class: "quiet", text: "Top 8", on: { click: () => this.choose(null) } }),
          make("button", { type: "button", class: "quiet", text: "None", on: { click: () => this.choose([]) } }),
        ),
        this.list,
        this.listNote,
      ),
    );
    view.append(
      make(
        "div",
        { class: "toolbar" },
        this.spans,
        make("span", { class: "quiet-text", text: "Largest share of the cluster over all resources" }),
      ),
      this.feedPlace,
      this.empty,
      this.content,
    );
    this.feed = new Feed({
      address: () => page.pageRoute(["use"], { partition: page.partition?.name, span: this.span }),
      show: (answer) => this.take(answer),
      what: "the time line",
      place: this.feedPlace,
      every: 5000,
    });
    this.feed.wants = () => true;
  }

  get feeds() {
    return [this.feed];
  }

  reset() {
    this.answer = null;
    this.chosen = null;
    this.colours.clear();
    this.content.hidden = true;
    this.empty.hidden = true;
  }

  setSpan(span) {
    this.span = span;
    this.feed.restart();
  }

  take(answer) {
    this.answer = answer;
    this.feed.every = Math.max(5000, Math.min(60000, (answer.every ?? 10) * 1000));
    const latest = (values) => values.findLast?.((value) => value !== null) ?? 0;
    this.queues = Object.entries(answer.queues ?? {})
      .map(([name, values]) => ({
        name,
        values,
        last: latest(values),
        most: values.reduce((most, value) => Math.max(most, value ?? 0), 0),
      }))
      .sort((left, right) => right.most - left.most || kNatural.compare(left.name, right.name));
    this.empty.hidden = this.queues.length > 0;
    this.content.hidden = this.queues.length === 0;
    this.show();
  }

  /// The queues in the chart: those that were chosen by hand, else the eight that used most.
  selection() {
    return this.chosen ?? new Set(this.queues.slice(0, kPreselected).map((queue) => queue.name));
  }

  choose(names) {
    this.chosen = names === null ? null : new Set(names);
    this.show();
  }

  toggle(name, on) {
    this.chosen = new Set(this.selection());
    if (on) this.chosen.add(name);
    else this.chosen.delete(name);
    this.show();
  }

  /// A queue keeps its colour as long as it is in the chart.
  giveColours(selection) {
    for (const name of [...this.colours.keys()]) if (!selection.has(name)) this.colours.delete(name);
    for (const name of selection) {
      if (this.colours.has(name)) continue;
      const taken = new Set(this.colours.values());
      let colour = 0;
      while (taken.has(colour) && colour < kPalette - 1) colour += 1;
      this.colours.set(name, taken.has(colour) ? this.colours.size % kPalette : colour);
    }
  }

  show() {
    if (!this.answer) return;
    const selection = this.selection();
    this.giveColours(selection);
    this.series = this.queues
      .filter((queue) => selection.has(queue.name))
      .map((queue) => ({ ...queue, colour: this.colours.get(queue.name) }));
    this.chart.setData({ every: this.answer.every, end: this.answer.end, series: this.series });
    this.showList();
    this.showTable();
  }

  showList() {
    if (!this.queues) return;
    const text = this.search.value.trim().toLowerCase();
    const selection = this.selection();
    const matching = this.queues.filter((queue) => !text || queue.name.toLowerCase().includes(text));
    const held = document.activeElement?.dataset?.queue;
    this.list.replaceChildren(
      this.list.firstChild,
      ...matching
        .slice(0, kListedQueues)
        .map((queue) =>
          make(
            "label",
            { class: "queue-choice" },
            make("input", {
              type: "checkbox",
              checked: selection.has(queue.name),
              data: { queue: queue.name },
              on: { change: (event) => this.toggle(queue.name, event.target.checked) },
            }),
            make("span", { class: selection.has(queue.name) ? `swatch colour-${this.colours.get(queue.name)}` : "swatch" }),
            make("span", { class: "cut", title: queue.name, text: queue.name }),
            make("span", { class: "number", text: formatShare(queue.last / 1000) }),
          ),
        ),
    );
    if (held)
      for (const input of this.list.querySelectorAll("input")) if (input.dataset.queue === held) input.focus({ preventScroll: true });
    setText(
      this.listNote,
      matching.length > kListedQueues
        ? `${kListedQueues} of ${formatCount(matching.length)} queues, those that used most. Filter to see others.`
        : "",
    );
  }

  showTable() {
    if (!this.details.open || !this.series) return;
    const count = this.series.reduce((most, line) => Math.max(most, line.values.length), 0);
    const rows = [];
    const each = Math.max(1, Math.ceil(count / kTableSamples));
    for (let index = count - 1; index >= 0; index -= each) {
      rows.push(
        make(
          "tr",
          {},
          make("th", { scope: "row", text: formatMoment((this.answer.end - (count - 1 - index) * this.answer.every) * 1000) }),
          this.series.map((line) => {
            const value = line.values[index - (count - line.values.length)];
            return make("td", { class: "number", text: value === null || value === undefined ? "–" : formatShare(value / 1000) });
          }),
        ),
      );
    }
    this.rows.replaceChildren(
      make(
        "div",
        { class: "table-frame" },
        make(
          "table",
          { class: "small", "aria-label": "Use by queue" },
          make(
            "thead",
            {},
            make(
              "tr",
              {},
              make("th", { scope: "col", text: "Time" }),
              this.series.map((line) => make("th", { scope: "col", class: "number", text: line.name })),
            ),
          ),
          make("tbody", {}, rows),
        ),
      ),
      make("p", { class: "table-note", text: each > 1 ? `Every ${each}th of ${formatCount(count)} samples.` : "" }),
    );
  }

  opened() {}

  focus() {
    this.chart.frame.focus();
  }
}
