// SPDX-License-Identifier: Apache-2.0
// What the panel says about a queue: its figures, its time line, its applications, its settings and where each comes from.

/// Members of a queue that are shown as facts elsewhere, or mean nothing to people.
const kQueueSettings = [
  ["sortingPolicy", "Sort policy"],
  ["prioritySorting", "Sorted by priority"],
  ["currentPriority", "Priority"],
  ["priorityOffset", "Priority offset"],
  ["preemptionEnabled", "Preemption"],
  ["preemptionDelay", "Preemption delay"],
  ["isPreemptionFence", "Preemption fence"],
  ["isPriorityFence", "Priority fence"],
  ["quotaPreemptionDelay", "Quota preemption delay"],
];

function fillQueuePanel(panel, path) {
  const figures = panel.section("Figures");
  const uses = panel.section("Use of the last hour");
  const applications = panel.section("Applications");
  const settings = panel.section("Settings");
  const showFigures = () => {
    const row = page.views.queues.byPath.get(path);
    if (row) fillQueueFigures(figures, row);
    else if (!page.views.queues.root)
      figures.replaceChildren(make("p", { class: "quiet-text", text: "The queues are not loaded yet." }));
    else figures.replaceChildren(emptyNote("There is no such queue any more.", null));
  };
  panel.update = showFigures;
  showFigures();

  const chart = new TimeLine({ label: `Use of ${path} in the last hour`, chartHeight: () => 140 });
  panel.feed({
    address: () => page.pageRoute(["use"], { partition: page.partition?.name, span: "hour" }),
    what: "the time line",
    place: uses,
    every: 10000,
    show: (answer) => {
      const values = answer.queues?.[path];
      if (values) chart.setData({ every: answer.every, end: answer.end, series: [{ name: path, values, colour: 0 }] });
      uses.replaceChildren(values ? chart.element : make("p", { class: "quiet-text", text: "No samples of this queue yet." }));
    },
  });

  const table = applicationTable("Applications of the queue", 8);
  applications.append(table.element);
  panel.feed(
    {
      address: () => page.partitionPageRoute("applications", { queue: path }),
      what: "the applications",
      place: applications,
      show: (answer) => {
        table.setRows(answer.applications ?? [], applicationNote(answer, 8));
      },
    },
    (changes) => changes.applications?.length > 0,
  );
  applications.append(linkButton("Show all in Applications", () => page.go("applications", null, { queue: path })));

  panel.feed(
    {
      address: () => page.explainRoute({ what: "queue", queue: path }),
      what: "the settings",
      place: settings,
      show: (answer) => {
        const row = page.views.queues.byPath.get(path);
        settings.replaceChildren(explainBlock(answer), valuesTable(answer.details?.values ?? []), queueSettings(row?.queue));
      },
    },
    (changes) => changes.queues?.includes(path),
  );
}

function sameResource(left, right) {
  return [...new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})])].every((name) => amountOf(left, name) === amountOf(right, name));
}

function fillQueueFigures(place, row) {
  const queue = row.queue;
  place.replaceChildren(
    factList([
      ["State", badge(queue.status ?? "–", stateTone(queue.status))],
      ["Kind", `${queue.isLeaf ? "leaf" : "parent"}, ${queue.isManaged === false ? "dynamic" : "configured"}`],
      [
        "Applications",
        `${formatCount(row.running)} running, ${formatCount(row.accepted)} accepted` +
          (queue.maxRunningApps ? `, at most ${formatCount(queue.maxRunningApps)} run` : ""),
      ],
      ["Queues below", row.children.length > 0 ? formatCount(row.children.length) : null],
      ["Fair share", queue.fairShare === undefined ? null : formatShare(queue.fairShare)],
      ["Starting", (queue.allocatingAcceptedApps ?? []).join(", ")],
    ]),
    make("div", { class: "bars wide-bars" }, row.bars.map(queueBar)),
    resourceTable(`Resources of ${row.path}`, [
      ["Used", queue.allocatedResource],
      ["Pending", queue.pendingResource],
      ["Guaranteed", queue.guaranteedResource],
      ["Max", queue.maxResource],
      ["Effective max", sameResource(queue.effectiveMaxResource, queue.maxResource) ? null : queue.effectiveMaxResource],
      ["Headroom", queue.headroom],
      ["Preempting", queue.preemptingResource],
    ]),
  );
}

function valuesTable(values) {
  if (values.length === 0) return "";
  return make(
    "div",
    { class: "table-frame" },
    make(
      "table",
      { class: "small", "aria-label": "Settings and where each comes from" },
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          ["Setting", "Value", "From"].map((text) => make("th", { scope: "col", text })),
        ),
      ),
      make(
        "tbody",
        {},
        values.map((value) =>
          make(
            "tr",
            {},
            make("th", { scope: "row", text: value.name }),
            make("td", { class: "break", text: formatValue(value.value) }),
            make("td", { class: "quiet-text break", text: value.from ?? "" }),
          ),
        ),
      ),
    ),
  );
}

function queueSettings(queue) {
  if (!queue) return "";
  const pairs = kQueueSettings
    .filter(([member]) => queue[member] !== undefined)
    .map(([member, title]) => [title, formatValue(queue[member])]);
  for (const [name, value] of Object.entries(queue.properties ?? {})) pairs.push([name, formatValue(value)]);
  return factList(pairs);
}
