// SPDX-License-Identifier: Apache-2.0
// The panel beside a view (below it on narrow screens): everything about one queue, node or application.

/// The panel has a title and sections; its feeds live as long as it shows the same thing.
class Panel {
  constructor(element) {
    this.element = element;
    this.feeds = [];
    this.subject = null;
    element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") page.open(null);
    });
  }

  /// Shows a subject of a kind with the function that makes its sections, or closes.
  show(kind, name) {
    const subject = name === null ? null : JSON.stringify([kind, name, page.partitionKey()]);
    if (subject === this.subject) return;
    const hadFocus = this.element.contains(document.activeElement);
    for (const feed of this.feeds) feed.end();
    this.feeds = [];
    this.update = null;
    this.subject = subject;
    this.element.hidden = subject === null;
    document.body.classList.toggle("with-panel", subject !== null);
    if (subject === null) {
      this.element.replaceChildren();
      if (hadFocus) page.focusView();
      return;
    }
    this.body = make("div", { class: "panel-body" });
    this.heading = make(
      "h2",
      { id: "panel-title", tabindex: "-1" },
      make("span", { class: "panel-kind", text: kind }),
      make("span", { class: "panel-name", text: name }),
    );
    this.element.replaceChildren(
      make(
        "div",
        { class: "panel-head" },
        this.heading,
        make("button", {
          type: "button",
          class: "quiet",
          text: "Close",
          "aria-label": `Close the panel of ${kind} ${name}`,
          on: { click: () => page.open(null) },
        }),
      ),
      this.body,
    );
    const makers = { queue: fillQueuePanel, node: fillNodePanel, application: fillApplicationPanel };
    makers[kind](this, name);
    if (window.matchMedia("(max-width: 999px)").matches) this.element.scrollIntoView();
    if (page.wantsPanelFocus) {
      page.wantsPanelFocus = false;
      this.heading.focus({ preventScroll: false });
    }
  }

  /// A part with a heading; returns the element for what it shows.
  section(title) {
    const content = make("div", { class: "section-content" });
    const box = make("section", { class: "panel-section" }, make("h3", { text: title }), content);
    this.body.append(box);
    content.box = box;
    return content;
  }

  /// A feed that ends with the panel's subject; `wants(changes)` says which changes matter to it.
  feed(traits, wants = () => true) {
    const feed = new Feed(traits);
    feed.wants = wants;
    this.feeds.push(feed);
    feed.start();
    return feed;
  }

  changes(changes) {
    for (const feed of this.feeds) if (changes.more || feed.wants(changes)) feed.changed();
  }

  all() {
    for (const feed of this.feeds) feed.changed();
  }
}

/// The answer of the explain route: a verdict, the reasons, and what would help.
function explainBlock(answer) {
  const block = make("div", { class: "explain" });
  block.append(make("p", { class: "verdict" }, badge(answer.verdict ?? "unknown", stateTone(answer.verdict))));
  const reasons = answer.reasons ?? [];
  if (reasons.length > 0) {
    block.append(
      make(
        "ul",
        { class: "reasons" },
        reasons.map((reason) =>
          make(
            "li",
            {},
            make("code", { text: reason.code ?? "" }),
            reason.object ? make("span", { class: "reason-object", text: reason.object }) : null,
            make("span", { class: "reason-text", text: reason.text ?? "" }),
            reasonFacts(reason),
          ),
        ),
      ),
    );
  }
  const helps = [...new Set(reasons.map((reason) => reason.help).filter(Boolean))];
  if (helps.length > 0) {
    block.append(
      make("h4", { text: "What would help" }),
      make(
        "ul",
        { class: "helps" },
        helps.map((help) => make("li", { text: help })),
      ),
    );
  }
  return block;
}

/// The amounts of a reason on a line below it: what is needed, used and allowed, and for how many asks it stands.
function reasonFacts(reason) {
  const facts = [];
  if (reason.need) facts.push(`needs ${formatResource(reason.need)}`);
  if (reason.used) facts.push(`used ${formatResource(reason.used)}`);
  if (reason.limit) facts.push(`limit ${formatResource(reason.limit)}`);
  if (reason.sort?.ahead) {
    const first = (reason.sort.first ?? []).map((one) => one.applicationID).join(", ");
    facts.push(`${reason.sort.policy}: ${formatCount(reason.sort.ahead)} ahead${first ? `, first ${first}` : ""}`);
  }
  if (reason.asks) facts.push(`${formatCount(reason.asks)} ${reason.asks === 1 ? "ask" : "asks"}`);
  return facts.length > 0 ? make("span", { class: "reason-facts", text: facts.join(" · ") }) : null;
}

/// A table of resources with a column for each of the amounts: [["Used", {...}], ...]; amounts that are absent are left out.
function resourceTable(label, amounts) {
  const present = amounts.filter(([, resource]) => resource && Object.keys(resource).length > 0);
  const names = sortedResources(present.map(([, resource]) => resource));
  if (names.length === 0) return make("p", { class: "quiet-text", text: "No resources." });
  return make(
    "div",
    { class: "table-frame" },
    make(
      "table",
      { class: "small", "aria-label": label },
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("th", { scope: "col", text: "Resource" }),
          present.map(([title]) => make("th", { scope: "col", class: "number", text: title })),
        ),
      ),
      make(
        "tbody",
        {},
        names.map((name) =>
          make(
            "tr",
            {},
            make("th", { scope: "row", text: resourceTitle(name) }),
            present.map(([, resource]) =>
              make("td", { class: "number", text: formatAmount(name, amountOf(resource, name)) }),
            ),
          ),
        ),
      ),
    ),
  );
}
