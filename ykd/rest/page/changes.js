// SPDX-License-Identifier: Apache-2.0
// The view of changes: who was preempted for whom, and which configurations there were, newest first.

class Changes {
  constructor(view) {
    this.view = view;
    const preemptions = new DataTable({
      label: "Preemptions",
      limit: 500,
      rowKey: (one) => `${one.at} ${one.application} ${one.allocation}`,
      emptyText: "Nobody was preempted since the daemon's start.",
      columns: [
        { key: "at", title: "When", cell: (one) => momentElement(one.at) },
        {
          key: "application",
          title: "Victim",
          cell: (one) => (one.application ? linkButton(one.application, () => page.go("applications", one.application)) : "–"),
        },
        { key: "allocation", title: "Allocation", wide: true, cell: (one) => one.allocation ?? "–" },
        { key: "text", title: "What happened", cell: (one) => one.text ?? "–" },
      ],
    });
    const known = ["checksum", "active", "at", "origin", "rmID"];
    const configurations = new DataTable({
      label: "Configurations",
      limit: 500,
      rowKey: (one) => `${one.at} ${one.rmID} ${one.checksum}`,
      emptyText: "No configurations are known. A resource manager brings one when it registers; ykctl config shows them.",
      columns: [
        { key: "at", title: "When", cell: (one) => momentElement(one.at) },
        { key: "active", title: "State", cell: (one) => (one.active ? badge("in force", "good") : badge("earlier", "idle")) },
        { key: "origin", title: "From", cell: (one) => one.origin ?? "–" },
        { key: "rm", title: "Resource manager", cell: (one) => one.rmID ?? "–" },
        {
          key: "checksum",
          title: "Checksum",
          cell: (one) => make("code", { title: one.checksum ?? "", text: (one.checksum ?? "–").slice(0, 16) }),
        },
        {
          key: "more",
          title: "More",
          cell: (one) =>
            Object.entries(one)
              .filter(([name]) => !known.includes(name))
              .map(([name, value]) => `${name} ${formatValue(value)}`)
              .join(", ") || "–",
        },
      ],
    });
    const preemptionPlace = make("div");
    const configurationPlace = make("div");
    view.append(
      make(
        "div",
        { class: "scroll lists" },
        make("section", {}, make("h2", { text: "Preemptions" }), preemptionPlace, preemptions.element),
        make("section", {}, make("h2", { text: "Configurations" }), configurationPlace, configurations.element),
      ),
    );
    this.tables = [preemptions, configurations];
    this.feeds = [
      new Feed({
        address: () => page.pageRoute(["preemptions"]),
        show: (answer) => preemptions.setRows(answer ?? []),
        what: "the preemptions",
        place: preemptionPlace,
        every: 5000,
      }),
      new Feed({
        address: () => page.pageRoute(["configurations"]),
        show: (answer) => configurations.setRows(answer ?? []),
        what: "the configurations",
        place: configurationPlace,
        every: 10000,
      }),
    ];
    this.feeds[0].wants = (changes) => changes.applications?.length > 0;
    this.feeds[1].wants = (changes) => changes.queues?.length > 0;
  }

  reset() {
    for (const table of this.tables) table.setRows([], "Loading …");
  }

  opened() {}

  focus() {
    byId("tab-changes").focus();
  }
}
