// SPDX-License-Identifier: Apache-2.0
// A picture with one cell for each node, its colour the share that is used. 50,000 cells fit; a second canvas above it has the cursor.

const kHeatSteps = 21;
const kLargestCell = 44;
const kSmallestCell = 3;

/// Sequential scales of one hue: they only get darker (lighter on dark), so all kinds of colour vision can order them.
const kHeatStops = {
  light: [
    [231, 237, 243],
    [158, 197, 228],
    [66, 136, 193],
    [20, 84, 144],
    [6, 38, 84],
  ],
  dark: [
    [32, 43, 55],
    [26, 73, 118],
    [39, 118, 186],
    [112, 177, 233],
    [214, 235, 255],
  ],
};

function heatColour(theme, share) {
  const stops = kHeatStops[theme];
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  const parts = stops[low].map((value, index) => Math.round(value + (stops[low + 1][index] - value) * (at - low)));
  return `rgb(${parts.join(",")})`;
}

class HeatMap {
  constructor({ label, onOpen, describe }) {
    Object.assign(this, { onOpen, describe });
    this.nodes = [];
    this.matches = null;
    this.cursor = -1;
    this.hover = -1;
    this.openedName = null;
    this.base = make("canvas", { class: "heat-cells", "aria-hidden": "true" });
    this.above = make("canvas", {
      class: "heat-cursor",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "heat map",
      "aria-label": label,
      "aria-describedby": "heat-help",
      on: {
        keydown: (event) => this.key(event),
        mousemove: (event) => this.pointed(event),
        mouseleave: () => this.setHover(-1),
        click: (event) => this.clicked(event),
        focus: () => this.focused(),
        blur: () => this.left(),
      },
    });
    this.live = make("p", { class: "hidden-text", "aria-live": "polite", id: "heat-live" });
    this.tip = make("div", { class: "tip", "aria-hidden": "true", hidden: true });
    this.frame = make("div", { class: "heat-frame" }, this.base, this.above, this.tip);
    this.element = make(
      "div",
      { class: "heat" },
      this.frame,
      this.live,
      make("p", {
        class: "hidden-text",
        id: "heat-help",
        text: "Arrow keys move from node to node, Enter opens one. The same as a table is below.",
      }),
    );
    new ResizeObserver(() => this.layOut()).observe(this.frame);
  }

  /// nodes: [{name, schedulable, allocations, share}]; a share of null: the node has none of the resource.
  setNodes(nodes) {
    const name = this.nodes[this.cursor]?.name;
    this.nodes = nodes;
    this.hover = -1;
    this.tip.hidden = true;
    this.cursor = name === undefined ? -1 : nodes.findIndex((node) => node.name === name);
    this.layOut();
  }

  /// Only these nodes keep their colour; null: all.
  setMatches(matches) {
    this.matches = matches;
    this.drawBase();
    this.drawAbove();
  }

  setOpened(name) {
    this.openedName = name;
    this.drawAbove();
  }

  /// The largest cells with which all nodes fit in the room that there is.
  layOut() {
    const width = this.frame.clientWidth;
    if (width === 0) return;
    const room = Math.max(220, window.innerHeight - 330);
    const count = Math.max(1, this.nodes.length);
    let size = Math.min(kLargestCell, Math.max(kSmallestCell, Math.ceil(Math.sqrt((width * room) / count)) + 1));
    while (size > kSmallestCell && Math.ceil(count / Math.floor(width / size)) * size > room * 1.08) size -= 1;
    this.size = size;
    this.gap = size >= 12 ? 2 : size >= 5 ? 1 : 0;
    this.columns = Math.max(1, Math.floor(width / size));
    this.width = width;
    this.height = Math.ceil(count / this.columns) * size;
    this.frame.style.height = `${this.height}px`;
    this.scale = Math.min(2, window.devicePixelRatio || 1);
    for (const canvas of [this.base, this.above]) {
      canvas.width = Math.round(width * this.scale);
      canvas.height = Math.round(this.height * this.scale);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${this.height}px`;
    }
    this.drawBase();
    this.drawAbove();
  }

  /// Cells by colour: all of one colour in one path, which is fast for tens of thousands.
  drawBase() {
    if (!this.columns) return;
    const theme = document.documentElement.dataset.theme === "dark" ? "dark" : "light";
    const context = this.base.getContext("2d");
    context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    const groups = new Map();
    this.nodes.forEach((node, index) => {
      const faded = this.matches !== null && !this.matches.has(index);
      const step = node.share === null ? -1 : Math.min(kHeatSteps - 1, Math.round(node.share * (kHeatSteps - 1)));
      const group = step + (faded ? 1000 : 0);
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(index);
    });
    const inner = this.size - this.gap;
    for (const [group, indexes] of groups) {
      const faded = group >= 998;
      const step = faded ? group - 1000 : group;
      context.globalAlpha = faded ? 0.15 : 1;
      context.fillStyle = step < 0 ? (theme === "dark" ? "#4a4038" : "#d9d0c4") : heatColour(theme, step / (kHeatSteps - 1));
      context.beginPath();
      for (const index of indexes)
        context.rect((index % this.columns) * this.size, Math.floor(index / this.columns) * this.size, inner, inner);
      context.fill();
    }
    context.globalAlpha = 1;
    this.drawDrained(context, inner);
  }

  /// Nodes that take nothing are crossed out; on tiny cells a single stroke must do.
  drawDrained(context, inner) {
    context.beginPath();
    this.nodes.forEach((node, index) => {
      if (node.schedulable) return;
      const x = (index % this.columns) * this.size;
      const y = Math.floor(index / this.columns) * this.size;
      context.moveTo(x, y);
      context.lineTo(x + inner, y + inner);
      if (inner < 5) return;
      context.moveTo(x + inner, y);
      context.lineTo(x, y + inner);
    });
    const style = getComputedStyle(document.documentElement);
    context.lineWidth = inner >= 8 ? 3.5 : 0;
    context.strokeStyle = style.getPropertyValue("--ground");
    if (inner >= 8) context.stroke();
    context.lineWidth = inner >= 8 ? 1.75 : 1;
    context.strokeStyle = style.getPropertyValue("--warm");
    context.stroke();
  }

  drawAbove() {
    if (!this.columns) return;
    const context = this.above.getContext("2d");
    context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    const style = getComputedStyle(document.documentElement);
    const frame = (index, colour, width) => {
      if (index < 0 || index >= this.nodes.length) return;
      const x = (index % this.columns) * this.size;
      const y = Math.floor(index / this.columns) * this.size;
      const inner = this.size - this.gap;
      const grow = Math.max(1, (8 - inner) / 2);
      context.lineWidth = width + 2;
      context.strokeStyle = style.getPropertyValue("--ground");
      context.strokeRect(x - grow, y - grow, inner + 2 * grow, inner + 2 * grow);
      context.lineWidth = width;
      context.strokeStyle = colour;
      context.strokeRect(x - grow, y - grow, inner + 2 * grow, inner + 2 * grow);
    };
    if (this.matches !== null && this.matches.size <= 200)
      for (const index of this.matches) frame(index, style.getPropertyValue("--warm"), 1.5);
    if (this.openedName !== null)
      frame(
        this.nodes.findIndex((node) => node.name === this.openedName),
        style.getPropertyValue("--text"),
        2.5,
      );
    frame(this.hover, style.getPropertyValue("--text"), 1.5);
    if (document.activeElement === this.above) frame(this.cursor, style.getPropertyValue("--focus"), 2.5);
  }

  indexOf(event) {
    const box = this.above.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / this.size);
    const row = Math.floor((event.clientY - box.top) / this.size);
    const index = row * this.columns + column;
    return column >= 0 && column < this.columns && index >= 0 && index < this.nodes.length ? index : -1;
  }

  pointed(event) {
    this.setHover(this.indexOf(event));
  }

  setHover(index) {
    if (index === this.hover) return;
    this.hover = index;
    this.drawAbove();
    this.showTip(index);
  }

  showTip(index) {
    this.tip.hidden = index < 0;
    if (index < 0) return;
    const node = this.nodes[index];
    this.tip.replaceChildren(make("strong", { text: node.name }), make("span", { text: this.describe(node) }));
    const x = (index % this.columns) * this.size;
    const y = Math.floor(index / this.columns) * this.size;
    const left = x > this.width / 2;
    this.tip.style.left = left ? "auto" : `${x + this.size + 8}px`;
    this.tip.style.right = left ? `${this.width - x + 8}px` : "auto";
    this.tip.style.top = `${Math.max(0, y - 4)}px`;
  }

  clicked(event) {
    const index = this.indexOf(event);
    if (index < 0) return;
    this.cursor = index;
    this.onOpen(this.nodes[index].name, false);
  }

  focused() {
    if (this.cursor < 0 && this.nodes.length > 0) this.cursor = this.matches?.size ? Math.min(...this.matches) : 0;
    this.tell();
  }

  /// The keyboard went elsewhere.
  left() {
    this.showTip(-1);
    this.drawAbove();
  }

  key(event) {
    if (this.nodes.length === 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    const last = this.nodes.length - 1;
    const rowStart = this.cursor - (this.cursor % this.columns);
    const moves = {
      ArrowLeft: this.cursor - 1,
      ArrowRight: this.cursor + 1,
      ArrowUp: this.cursor - this.columns,
      ArrowDown: this.cursor + this.columns,
      Home: event.shiftKey ? 0 : rowStart,
      End: event.shiftKey ? last : Math.min(last, rowStart + this.columns - 1),
      PageUp: this.cursor - 10 * this.columns,
      PageDown: this.cursor + 10 * this.columns,
    };
    if (event.key === "Enter" || event.key === " ") this.onOpen(this.nodes[this.cursor].name, true);
    else if (event.key in moves) {
      if (moves[event.key] >= 0 && moves[event.key] <= last) this.cursor = moves[event.key];
      this.tell();
    } else return;
    event.preventDefault();
  }

  /// Shows the cursor and says which node it is on.
  tell() {
    this.drawAbove();
    const node = this.nodes[this.cursor];
    setText(this.live, node ? `${node.name}: ${this.describe(node)}` : "");
    this.showTip(node ? this.cursor : -1);
  }
}
