// SPDX-License-Identifier: Apache-2.0
// The view of applications: a table, and the panel that says why one of them waits.

/// The table of applications; the panel of a queue has a short one.
function applicationTable(label, limit) {
  const short = limit < 100;
  const columns = [
    { key: "id", title: "Application", sort: (one) => one.applicationID, cell: (one) => one.applicationID },
    { key: "queue", title: "Queue", wide: true, sort: (one) => one.queueName ?? "", cell: (one) => one.queueName ?? "–" },
    { key: "user", title: "User", wide: true, sort: (one) => one.user ?? "", cell: (one) => one.user ?? "–" },
    {
      key: "state",
      title: "State",
      sort: (one) => one.applicationState ?? "",
      cell: (one) => badge(one.applicationState ?? "–", stateTone(one.applicationState)),
    },
    {
      key: "used",
      title: "Used",
      number: true,
      descending: true,
      sort: (one) => one.usedResource?.vcore ?? one.usedResource?.memory ?? 0,
      cell: (one) => formatResource(one.usedResource),
    },
    {
      key: "allocations",
      title: "Allocations",
      number: true,
      descending: true,
      sort: (one) => one.allocationCount ?? 0,
      cell: (one) => formatCount(one.allocationCount),
    },
    {
      key: "pending",
      title: "Pending asks",
      number: true,
      descending: true,
      sort: (one) => one.pendingAsks ?? 0,
      cell: (one) => formatCount(one.pendingAsks),
    },
    {
      key: "wanted",
      title: "Pending",
      number: true,
      descending: true,
      sort: (one) => one.pendingResource?.vcore ?? one.pendingResource?.memory ?? 0,
      cell: (one) => formatResource(one.pendingResource),
    },
    {
      key: "waits",
      title: "Waits since",
      number: true,
      sort: (one) => (one.pendingAsks ? -(one.oldestPending ?? one.submissionTime ?? 0) : 1),
      cell: (one) => (one.pendingAsks ? momentElement(one.oldestPending ?? one.submissionTime) : "–"),
    },
    {
      key: "since",
      title: "Submitted",
      number: true,
      sort: (one) => -(one.submissionTime ?? 0),
      cell: (one) => momentElement(one.submissionTime),
    },
  ];
  const inShort = ["id", "user", "state", "pending"];
  return new DataTable({
    label,
    limit,
    sortBy: "pending",
    descending: true,
    emptyText: "No applications.",
    rowKey: (one) => one.applicationID,
    columns: short ? columns.filter((column) => inShort.includes(column.key)) : columns,
    onOpen: (one) => (short ? page.go("applications", one.applicationID) : page.open(one.applicationID, true)),
  });
}

/// How many there are beside those that are shown.
function applicationNote(answer, limit) {
  const got = (answer.applications ?? []).length;
  const all = answer.all ?? got;
  return all > Math.min(got, limit)
    ? `${formatCount(Math.min(got, limit))} of ${formatCount(all)} applications, those with pending asks first.`
    : "";
}

class Applications {
  constructor(view) {
    this.view = view;
    this.answer = null;
    this.search = make("input", {
      type: "search",
      placeholder: "Filter by id, queue or user",
      "aria-label": "Filter applications by id, queue or user",
      autocomplete: "off",
      spellcheck: "false",
      on: { input: () => this.show() },
    });
    this.state = make("select", { on: { change: () => this.show() } }, make("option", { value: "", text: "all" }));
    this.queue = make("span", { class: "chip", hidden: true });
    this.count = make("span", { class: "quiet-text", role: "status" });
    this.table = applicationTable("Applications", 1000);
    this.feedPlace = make("div");
    this.empty = make("div", { hidden: true });
    this.content = make(
      "div",
      { class: "fill", hidden: true },
      make("div", { class: "toolbar" }, this.search, make("label", { class: "choice" }, "State ", this.state), this.queue, this.count),
      make("div", { class: "scroll" }, this.table.element),
    );
    view.append(this.feedPlace, this.empty, this.content);
    this.feed = new Feed({
      address: () => page.partitionPageRoute("applications", { queue: page.queueFilter }),
      show: (answer) => this.take(answer),
      what: "the applications",
      place: this.feedPlace,
    });
    this.feed.wants = (changes) => changes.applications?.length > 0;
  }

  get feeds() {
    return [this.feed];
  }

  reset() {
    this.answer = null;
    this.content.hidden = true;
    this.empty.hidden = true;
  }

  take(answer) {
    this.answer = answer;
    const states = [...new Set((answer.applications ?? []).map((one) => one.applicationState))].sort();
    if (this.state.value && !states.includes(this.state.value)) states.push(this.state.value);
    if (this.state.dataset.states !== JSON.stringify(states)) {
      const chosen = this.state.value;
      this.state.dataset.states = JSON.stringify(states);
      this.state.replaceChildren(
        make("option", { value: "", text: "all" }),
        ...states.map((state) => make("option", { value: state, text: state })),
      );
      this.state.value = chosen;
    }
    this.show();
  }

  showQueue() {
    this.queue.hidden = !page.queueFilter;
    if (!page.queueFilter) return;
    this.queue.replaceChildren(
      "Queue ",
      make("strong", { text: page.queueFilter }),
      make("button", {
        type: "button",
        class: "quiet",
        text: "×",
        "aria-label": `Show applications of all queues, not only of ${page.queueFilter}`,
        on: { click: () => page.go("applications", page.opened, { queue: null }) },
      }),
    );
  }

  show() {
    this.showQueue();
    if (!this.answer) return;
    const all = this.answer.applications ?? [];
    const none = all.length === 0 && !page.queueFilter;
    this.empty.hidden = !none;
    this.content.hidden = none;
    if (none) {
      this.empty.replaceChildren(
        emptyNote(
          "No applications are active in this partition.",
          "A resource manager submits them. By hand: ykctl app add ID -q QUEUE, then ykctl ask add ID -R memory=4Gi,vcore=1",
        ),
      );
      return;
    }
    const text = this.search.value.trim().toLowerCase();
    const rows = all.filter(
      (one) =>
        (!this.state.value || one.applicationState === this.state.value) &&
        (!text || [one.applicationID, one.queueName, one.user].some((member) => (member ?? "").toLowerCase().includes(text))),
    );
    const total = this.answer.all ?? all.length;
    const counted = countOf(total, "application", "applications");
    setText(this.count, rows.length === total ? counted : `${formatCount(rows.length)} of ${counted}`);
    const note =
      total > all.length
        ? `Only ${formatCount(all.length)} of ${formatCount(total)} applications were loaded, those with pending asks first. ` +
          "Choose a queue to see its others."
        : "";
    this.table.setRows(rows, note || (rows.length === 0 ? "No application is like that." : ""));
    this.table.setCurrent(page.opened);
  }

  opened(name) {
    this.table.setCurrent(name);
  }

  focus() {
    (this.table.body.querySelector("tr[aria-current] button") ?? this.search).focus();
  }
}

function fillApplicationPanel(panel, id) {
  const why = panel.section("Why it waits");
  const figures = panel.section("Figures");
  const asks = panel.section("Pending asks");
  const placed = panel.section("Allocations");
  panel.feed({
    address: () => page.explainRoute({ what: "app", application: id }),
    what: "the explanation",
    place: why,
    every: 4000,
    show: (answer) => {
      setText(
        why.box.querySelector("h3"),
        ["NO_PENDING", "ENDED", "REJECTED", "PLACED"].includes(answer.verdict) ? "How it stands" : "Why it waits",
      );
      const nodes = answer.details?.nodes;
      why.replaceChildren(
        explainBlock(answer),
        factList([
          ["Waits since", answer.details?.oldestPending ? momentElement(answer.details.oldestPending) : null],
          [
            "Pending asks",
            answer.details?.asks === undefined
              ? null
              : `${formatCount(answer.details.pendingAsks)} of ${formatCount(answer.details.asks)} asks`,
          ],
          [
            "Nodes",
            nodes
              ? `${formatCount(nodes.fitting)} of ${formatCount(nodes.nodes)} fit` +
                (nodes.tooSmall ? `, ${formatCount(nodes.tooSmall)} too small even empty` : "")
              : null,
          ],
          ["Nearest node", nodes?.best ? linkButton(nodes.best, () => page.go("nodes", nodes.best)) : null],
        ]),
      );
    },
  });
  const askTable = new DataTable({
    label: `Pending asks of ${id}`,
    sortBy: "since",
    rowKey: (ask) => ask.allocationKey,
    limit: 200,
    emptyText: "No asks are pending.",
    columns: [
      { key: "key", title: "Key", wide: true, sort: (ask) => ask.allocationKey, cell: (ask) => ask.allocationKey },
      { key: "resource", title: "Resources", cell: (ask) => formatResource(ask.resource) },
      { key: "priority", title: "Priority", number: true, sort: (ask) => Number(ask.priority), cell: (ask) => String(ask.priority) },
      {
        key: "since",
        title: "Waits",
        number: true,
        sort: (ask) => ask.requestTime ?? 0,
        cell: (ask) => momentElement(ask.requestTime, ""),
      },
      { key: "reason", title: "Last reason", cell: (ask) => ask.lastReason ?? ask.allocationLog?.[0]?.message ?? "–" },
    ],
  });
  const allocationTable = new DataTable({
    label: `Allocations of ${id}`,
    sortBy: "since",
    descending: true,
    rowKey: (one) => one.allocationKey,
    limit: 200,
    emptyText: "It has no allocations.",
    columns: [
      kAllocationColumns.key,
      {
        key: "node",
        title: "Node",
        sort: (one) => one.nodeId ?? "",
        cell: (one) => (one.nodeId ? linkButton(one.nodeId, () => page.go("nodes", one.nodeId)) : "–"),
      },
      kAllocationColumns.resource,
      kAllocationColumns.since,
    ],
  });
  panel.feed(
    {
      address: () => page.partitionRoute("application", id),
      what: "the application",
      place: figures,
      show: (one) => {
        const log = one.stateLog ?? [];
        figures.replaceChildren(
          factList([
            ["State", badge(one.applicationState ?? "–", stateTone(one.applicationState))],
            ["Queue", one.queueName ? linkButton(one.queueName, () => page.go("queues", one.queueName)) : null],
            ["User", one.user],
            ["Groups", (one.groups ?? []).join(", ")],
            ["Submitted", momentElement(one.submissionTime)],
            ["State since", log.length > 0 ? momentElement(log[log.length - 1].time) : null],
            ["Finished", one.finishedTime ? momentElement(one.finishedTime) : null],
            ["Rejected because", one.rejectedMessage],
            ["Backs off until", one.backoffDeadline],
            ["Reservations", (one.reservations ?? []).join(", ")],
          ]),
          resourceTable(`Resources of ${id}`, [
            ["Used", one.usedResource],
            ["Most used", one.maxUsedResource],
            ["Pending", one.pendingResource],
            ["Placeholders", one.placeholderResource],
          ]),
        );
        const requests = one.requests ?? [];
        const allocations = one.allocations ?? [];
        const brief = "It has too many to list here. See ykctl ask list and ykctl alloc list.";
        askTable.setRows(
          requests,
          one.brief ? brief : requests.length > 200 ? `The first 200 of ${formatCount(requests.length)} in this order.` : "",
        );
        allocationTable.setRows(
          allocations,
          one.brief ? brief : allocations.length > 200 ? `The first 200 of ${formatCount(allocations.length)} in this order.` : "",
        );
        if (!askTable.element.isConnected) asks.append(askTable.element);
        if (!allocationTable.element.isConnected) placed.append(allocationTable.element);
      },
    },
    (changes) => changes.applications?.includes(id),
  );
}
