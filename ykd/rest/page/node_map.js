// SPDX-License-Identifier: Apache-2.0
// The view of nodes: the heat map with its controls, the table of the same nodes, and the panel of one node.

const kTableNodes = 500;
const kFewNodes = 5000;

/// What makes what is idle unusable, in words; `others` are the resources that the asks need beside it.
const kFragmentCauses = [
  ["devices", () => "no device has enough left"],
  ["others", (others) => `the node lacks ${others}`],
  ["both", (others) => `the node lacks ${others}, and no device has enough left`],
  ["attribute", () => "the node lacks an attribute"],
  ["unasked", () => "asks that want none of it"],
];

/// How much of what is idle can be used by nobody, and why; empty when nothing is known of the asks to come.
function unusableText(one) {
  if (!one?.workload?.length || !(one.idle > 0)) return "";
  const others = (one.others ?? []).map(resourceTitle).join(", ");
  const causes = kFragmentCauses
    .filter(([name]) => one.causes?.[name] > 0)
    .map(([name, words]) => `${formatShare(one.causes[name] / one.idle)} ${words(others)}`);
  const why = causes.length > 0 ? `: ${causes.join("; ")}` : "";
  return `${(one.ratio * 100).toFixed(1)} % of the idle ${resourceTitle(one.resource)} can be used by nobody${why}.`;
}

class NodeMap {
  constructor(view) {
    this.view = view;
    this.nodes = [];
    this.resources = [];
    this.resource = "";
    this.loaded = false;
    this.search = make("input", {
      type: "search",
      placeholder: "Find nodes by name",
      "aria-label": "Find nodes by name",
      autocomplete: "off",
      spellcheck: "false",
      on: { input: () => this.filter() },
    });
    this.order = make(
      "select",
      { on: { change: () => this.arrange() } },
      make("option", { value: "name", text: "name" }),
      make("option", { value: "use", text: "use, most first" }),
      make("option", { value: "free", text: "use, least first" }),
    );
    this.choice = make("select", {
      on: {
        change: () => {
          this.resource = this.choice.value;
          this.arrange();
        },
      },
    });
    this.count = make("span", { class: "quiet-text", role: "status" });
    this.map = new HeatMap({
      label: "Nodes by use",
      describe: (node) => this.describe(node),
      onOpen: (name, focus) => page.open(name, focus),
    });
    this.unusable = make("p", { class: "quiet-text" });
    this.legend = make("div", { class: "heat-legend" });
    this.table = new DataTable({
      label: "Nodes in the order of the picture",
      limit: kTableNodes,
      rowKey: (node) => node.name,
      keep: (node) => JSON.stringify([node.name, node.schedulable, node.allocations, node.shares, this.resource]),
      onOpen: (node) => page.open(node.name, true),
      columns: [
        { key: "name", title: "Node", cell: (node) => node.name },
        { key: "state", title: "State", cell: (node) => (node.schedulable ? badge("schedulable", "good") : badge("drained", "wait")) },
        { key: "use", title: "Used", number: true, cell: (node) => formatShare(node.share) },
        { key: "shares", title: "Each resource", cell: (node) => this.sharesText(node) },
        { key: "allocations", title: "Allocations", number: true, cell: (node) => formatCount(node.allocations) },
      ],
    });
    this.details = make(
      "details",
      { class: "as-table", on: { toggle: () => this.fillTable() } },
      make("summary", { text: "As a table" }),
      this.table.element,
    );
    this.feedPlace = make("div");
    this.empty = make(
      "div",
      { hidden: true },
      emptyNote("This partition has no nodes.", "A resource manager adds them. By hand: ykctl node add NAME -R memory=64Gi,vcore=16"),
    );
    this.content = make(
      "div",
      { class: "fill" },
      make(
        "div",
        { class: "toolbar" },
        this.search,
        make("label", { class: "choice" }, "Colour by ", this.choice),
        make("label", { class: "choice" }, "Sort by ", this.order),
        this.count,
      ),
      this.unusable,
      this.legend,
      this.map.element,
      this.details,
    );
    view.append(this.feedPlace, this.empty, this.content);
    this.feed = new Feed({
      address: () => page.partitionPageRoute("nodes"),
      show: (answer) => this.take(answer),
      what: "the nodes",
      place: this.feedPlace,
    });
    this.feed.wants = (changes) => changes.nodes?.length > 0;
    this.content.hidden = true;
  }

  get feeds() {
    return [this.feed];
  }

  reset() {
    this.nodes = [];
    this.map.setNodes([]);
    this.content.hidden = true;
    this.empty.hidden = true;
  }

  take(answer) {
    this.nodes = (answer.nodes ?? []).map(([name, schedulable, allocations, shares]) => ({
      name,
      schedulable: Boolean(schedulable),
      allocations,
      shares: (shares ?? []).map((share) => (share < 0 ? null : share / 1000)),
    }));
    this.resources = answer.resources ?? [];
    if (this.choice.dataset.names !== JSON.stringify(this.resources)) {
      this.choice.dataset.names = JSON.stringify(this.resources);
      if (!this.resources.includes(this.resource)) this.resource = "";
      this.choice.replaceChildren(
        make("option", { value: "", text: "most used resource" }),
        ...this.resources.map((name) => make("option", { value: name, text: resourceTitle(name) })),
      );
      this.choice.value = this.resource;
    }
    this.unusable.textContent = unusableText(answer.fragmentation);
    this.unusable.hidden = !this.unusable.textContent;
    this.empty.hidden = this.nodes.length > 0;
    this.content.hidden = this.nodes.length === 0;
    this.arrange();
  }

  /// The share by which a node is coloured: of the resource that is chosen, else the largest of all.
  shareOf(node) {
    if (this.resource) return node.shares[this.resources.indexOf(this.resource)] ?? null;
    let most = null;
    for (const share of node.shares) if (share !== null && (most === null || share > most)) most = share;
    return most;
  }

  arrange() {
    for (const node of this.nodes) node.share = this.shareOf(node);
    const byName =
      this.nodes.length <= kFewNodes
        ? (left, right) => kNatural.compare(left.name, right.name)
        : (left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0);
    const sign = this.order.value === "use" ? -1 : 1;
    const compare =
      this.order.value === "name" ? byName : (left, right) => sign * ((left.share ?? -1) - (right.share ?? -1)) || byName(left, right);
    this.nodes.sort(compare);
    this.map.setNodes(this.nodes);
    this.showLegend();
    this.filter();
  }

  filter() {
    const text = this.search.value.trim().toLowerCase();
    let matches = null;
    if (text) {
      matches = new Set();
      this.nodes.forEach((node, index) => {
        if (node.name.toLowerCase().includes(text)) matches.add(index);
      });
    }
    this.matches = matches;
    if (matches !== this.map.matches || matches) this.map.setMatches(matches);
    const drained = this.nodes.reduce((sum, node) => sum + (node.schedulable ? 0 : 1), 0);
    const all = countOf(this.nodes.length, "node", "nodes") + (drained ? `, ${formatCount(drained)} drained` : "");
    setText(this.count, matches ? `${formatCount(matches.size)} of ${all}` : all);
    this.fillTable();
  }

  fillTable() {
    if (!this.details.open) return;
    const chosen = this.matches ? this.nodes.filter((node, index) => this.matches.has(index)) : this.nodes;
    const note =
      chosen.length > kTableNodes
        ? `The first ${kTableNodes} of ${formatCount(chosen.length)} nodes in this order. Search to see others.`
        : "";
    this.table.setRows(chosen.slice(0, kTableNodes), note);
  }

  describe(node) {
    const state = node.schedulable ? "" : "drained, ";
    return `${state}${this.sharesText(node) || "nothing known"}; ${countOf(node.allocations, "allocation", "allocations")}`;
  }

  sharesText(node) {
    return this.resources
      .map((name, at) =>
        node.shares[at] === null || node.shares[at] === undefined ? null : `${resourceTitle(name)} ${formatShare(node.shares[at])}`,
      )
      .filter((text) => text !== null)
      .join(", ");
  }

  showLegend() {
    const theme = document.documentElement.dataset.theme === "dark" ? "dark" : "light";
    const scale = make("span", { class: "scale", "aria-hidden": "true" });
    for (let step = 0; step < kHeatSteps; step += 1) {
      const cell = make("span");
      cell.style.background = heatColour(theme, step / (kHeatSteps - 1));
      scale.append(cell);
    }
    const some = this.nodes.some((node) => node.share === null);
    this.legend.replaceChildren(
      make("span", { text: `${this.resource ? resourceTitle(this.resource) : "Most used resource"}: 0 %` }),
      scale,
      make("span", { text: "100 %" }),
      make("span", { class: "legend-item" }, make("span", { class: "legend-mark drained", "aria-hidden": "true" }), "drained"),
      ...(some
        ? [make("span", { class: "legend-item" }, make("span", { class: "legend-mark none", "aria-hidden": "true" }), "has none of it")]
        : []),
    );
  }

  opened(name) {
    this.map.setOpened(name);
    this.table.setCurrent(name);
  }

  themeChanged() {
    this.map.drawBase();
    this.map.drawAbove();
    this.showLegend();
  }

  focus() {
    this.map.above.focus();
  }
}

function fillNodePanel(panel, name) {
  const why = panel.section("What it can take");
  const figures = panel.section("Figures");
  const running = panel.section("Allocations");
  panel.feed({
    address: () => page.explainRoute({ what: "node", node: name }),
    what: "the explanation",
    place: why,
    show: (answer) => {
      const pending = answer.details?.pending;
      const kept = answer.details?.reservations ?? [];
      why.replaceChildren(
        explainBlock(answer),
        factList([
          ["Pending asks", pending ? formatCount(pending.asks) : null],
          ["of these fit now", pending ? formatCount(pending.fitting) : null],
          ["too large even empty", pending ? formatCount(pending.tooLarge) : null],
          ["Kept for", kept.length > 0 ? kept.map((one) => `${one.allocationKey} of ${one.applicationID}`).join(", ") : null],
        ]),
      );
    },
  });
  const table = new DataTable({
    label: `Allocations on ${name}`,
    sortBy: "since",
    descending: true,
    rowKey: (one) => one.allocationKey,
    limit: 500,
    emptyText: "Nothing runs on this node.",
    columns: [
      {
        key: "application",
        title: "Application",
        sort: (one) => one.applicationId ?? "",
        cell: (one) =>
          one.applicationId ? linkButton(one.applicationId, () => page.go("applications", one.applicationId)) : "not of ykd",
      },
      kAllocationColumns.key,
      kAllocationColumns.resource,
      kAllocationColumns.since,
    ],
  });
  panel.feed(
    {
      address: () => page.partitionRoute("node", name),
      what: "the node",
      place: figures,
      show: (node) => {
        // What is zero is left out of the answer.
        const ofAll = (resource) => ({ ...Object.fromEntries(Object.keys(node.capacity ?? {}).map((one) => [one, 0])), ...resource });
        figures.replaceChildren(
          factList([
            ["State", node.schedulable === false ? badge("drained", "wait") : badge("schedulable", "good")],
            ["Host", node.hostName ?? null],
            ["Rack", node.rackName ?? null],
            ["Reserved by", (node.reservations ?? []).join(", ")],
          ]),
          resourceTable(`Resources of ${name}`, [
            ["Capacity", node.capacity],
            ["Allocated", ofAll(node.allocated)],
            ["Occupied", node.occupied],
            ["Free", ofAll(node.available)],
          ]),
          attributeList(node.attributes),
        );
        const all = [...(node.allocations ?? []), ...(node.foreignAllocations ?? [])];
        table.setRows(
          all,
          node.brief
            ? `This node has ${formatCount(node.allocationCount)} allocations, too many to list here: see ykctl alloc list --node`
            : all.length > 500
              ? `The first 500 of ${formatCount(all.length)}.`
              : "",
        );
        if (!table.element.isConnected) running.append(table.element);
      },
    },
    (changes) => changes.nodes?.includes(name),
  );
}

function attributeList(attributes) {
  const pairs = Object.entries(attributes ?? {}).filter(([name]) => name !== "si/node-partition");
  if (pairs.length === 0) return "";
  return make(
    "details",
    { class: "more" },
    make("summary", { text: `${formatCount(pairs.length)} ${pairs.length === 1 ? "attribute" : "attributes"}` }),
    factList(pairs.map(([name, value]) => [name, formatValue(value)])),
  );
}
