// SPDX-License-Identifier: Apache-2.0
// A chart of shares over time: a line for each queue, the values at a cursor that follows the mouse or the arrow keys.

const kPalette = 8;

/// A round number at or above `value`, for the top of a scale.
function roundTop(value) {
  for (const top of [10, 20, 50, 100, 200, 400, 600, 800, 1000]) if (value <= top) return top;
  return Math.ceil(value / 500) * 500;
}

class TimeLine {
  constructor({ label, chartHeight }) {
    this.label = label;
    this.chartHeight = chartHeight;
    this.data = null;
    this.cursor = null;
    this.picture = draw("svg", { class: "chart", "aria-hidden": "true" });
    this.readout = make("div", { class: "chart-readout", "aria-hidden": "true" });
    this.frame = make(
      "div",
      {
        class: "chart-frame",
        tabindex: "0",
        role: "slider",
        "aria-label": label,
        "aria-valuemin": "0",
        "aria-valuenow": "0",
        on: {
          keydown: (event) => this.key(event),
          mousemove: (event) => this.point(event),
          mouseleave: () => this.setCursor(null),
          blur: () => this.setCursor(null),
        },
      },
      this.picture,
      this.readout,
    );
    this.element = make("div", { class: "chart-box" }, this.frame);
    new ResizeObserver(() => this.render()).observe(this.frame);
  }

  /// data: {every, end, series: [{name, values, colour}]}; colour is a number below kPalette.
  setData(data) {
    this.data = data;
    this.count = data.series.reduce((most, line) => Math.max(most, line.values.length), 0);
    if (this.cursor !== null && this.cursor >= this.count) this.cursor = null;
    this.frame.setAttribute("aria-valuemax", String(Math.max(0, this.count - 1)));
    this.render();
  }

  timeAt(index) {
    return (this.data.end - (this.count - 1 - index) * this.data.every) * 1000;
  }

  xAt(index) {
    return this.left + (this.count < 2 ? this.wide : (index / (this.count - 1)) * this.wide);
  }

  yAt(value) {
    return this.height - 22 - (value / this.top) * (this.height - 32);
  }

  render() {
    const width = this.frame.clientWidth;
    if (!this.data || width === 0) return;
    this.height = this.chartHeight(width);
    this.left = 44;
    this.wide = width - this.left - 10;
    this.picture.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.picture.setAttribute("height", String(this.height));
    let most = 0;
    for (const line of this.data.series) for (const value of line.values) if (value > most) most = value;
    this.top = roundTop(most);
    const parts = [];
    for (let step = 0; step <= 4; step += 1) {
      const value = (this.top * step) / 4;
      const y = Math.round(this.yAt(value)) + 0.5;
      parts.push(draw("line", { class: step === 0 ? "axis" : "grid", x1: this.left, x2: width - 10, y1: y, y2: y }));
      parts.push(draw("text", { class: "tick", x: this.left - 6, y: y + 4, "text-anchor": "end", text: `${value / 10} %` }));
    }
    parts.push(...this.timeTicks());
    for (const line of this.data.series) parts.push(...this.linePaths(line));
    this.mark = draw("line", { class: "cursor", y1: 6, y2: this.height - 22, x1: -10, x2: -10 });
    parts.push(this.mark);
    this.picture.replaceChildren(...parts);
    this.showCursor();
  }

  timeTicks() {
    const span = this.data.every * Math.max(1, this.count - 1);
    const room = Math.max(2, Math.floor(this.wide / 90));
    const steps = [10, 30, 60, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000];
    const step = steps.find((candidate) => span / candidate <= room) ?? 864000;
    const offset = new Date(this.data.end * 1000).getTimezoneOffset() * 60;
    const begin = this.data.end - span;
    const ticks = [];
    for (let at = Math.ceil((begin - offset) / step) * step + offset; at <= this.data.end; at += step) {
      const x = Math.round(this.left + ((at - begin) / span) * this.wide) + 0.5;
      ticks.push(draw("line", { class: "grid", x1: x, x2: x, y1: 6, y2: this.height - 22 }));
      const anchor = x > this.left + this.wide - 20 ? "end" : x < this.left + 20 ? "start" : "middle";
      const text = formatMoment(at * 1000, step >= 86400 ? "day" : "minute");
      ticks.push(draw("text", { class: "tick", x, y: this.height - 7, "text-anchor": anchor, text }));
    }
    return ticks;
  }

  /// The line of a queue: pieces between samples that are missing; where samples are denser than pixels, the largest of each.
  linePaths({ values, colour }) {
    const each = Math.max(1, Math.floor(this.count / Math.max(1, this.wide)));
    const shift = this.count - values.length;
    let path = "";
    let area = "";
    let from = null;
    let last = null;
    const close = () => {
      if (from !== null) area += `L${last.toFixed(1)} ${this.yAt(0)}L${from.toFixed(1)} ${this.yAt(0)}Z`;
      if (from !== null && from === last) path += "h0.1";
      from = null;
    };
    for (let index = 0; index < values.length; index += each) {
      let value = null;
      for (let near = index; near < Math.min(index + each, values.length); near += 1) {
        if (values[near] !== null && values[near] !== undefined) value = Math.max(value ?? 0, values[near]);
      }
      if (value === null) {
        close();
        continue;
      }
      const x = this.xAt(index + shift);
      const point = `${x.toFixed(1)} ${this.yAt(value).toFixed(1)}`;
      path += (from === null ? "M" : "L") + point;
      area += (from === null ? "M" : "L") + point;
      if (from === null) from = x;
      last = x;
    }
    close();
    const line = draw("path", { class: `series colour-${colour}`, d: path || "M0 0" });
    return this.data.series.length === 1 ? [draw("path", { class: `area colour-${colour}`, d: area || "M0 0" }), line] : [line];
  }

  key(event) {
    if (!this.count) return;
    const present = this.cursor ?? this.count - 1;
    const page = Math.max(1, Math.round(this.count / 20));
    const moves = {
      ArrowLeft: present - 1,
      ArrowRight: present + 1,
      ArrowDown: present - 1,
      ArrowUp: present + 1,
      PageDown: present - page,
      PageUp: present + page,
      Home: 0,
      End: this.count - 1,
    };
    if (event.key === "Escape" && this.cursor !== null) {
      event.stopPropagation();
      this.setCursor(null);
      return;
    }
    if (!(event.key in moves)) return;
    event.preventDefault();
    event.stopPropagation();
    this.setCursor(Math.min(this.count - 1, Math.max(0, moves[event.key])));
  }

  point(event) {
    if (!this.count || !this.wide) return;
    const x = event.clientX - this.frame.getBoundingClientRect().left - this.left;
    this.setCursor(Math.min(this.count - 1, Math.max(0, Math.round((x / this.wide) * (this.count - 1)))));
  }

  setCursor(index) {
    this.cursor = index;
    this.showCursor();
  }

  valuesAt(index) {
    return this.data.series
      .map((line) => ({ ...line, value: line.values[index - (this.count - line.values.length)] ?? null }))
      .sort((left, right) => (right.value ?? -1) - (left.value ?? -1));
  }

  showCursor() {
    this.readout.hidden = this.cursor === null || !this.data;
    if (!this.mark) return;
    if (this.cursor === null) {
      this.mark.setAttribute("x1", "-10");
      this.mark.setAttribute("x2", "-10");
      return;
    }
    const x = this.xAt(this.cursor);
    this.mark.setAttribute("x1", String(x));
    this.mark.setAttribute("x2", String(x));
    const values = this.valuesAt(this.cursor);
    const moment = formatMoment(this.timeAt(this.cursor));
    const text = (value) => (value === null ? "no sample" : formatShare(value / 1000));
    this.frame.setAttribute("aria-valuenow", String(this.cursor));
    this.frame.setAttribute("aria-valuetext", `${moment}: ${values.map((line) => `${line.name} ${text(line.value)}`).join(", ")}`);
    this.readout.replaceChildren(
      make("div", { class: "readout-time", text: moment }),
      ...values.map((line) =>
        make(
          "div",
          { class: "readout-line" },
          make("span", { class: `swatch colour-${line.colour}` }),
          make("span", { class: "readout-name", text: line.name }),
          make("span", { class: "number", text: text(line.value) }),
        ),
      ),
    );
    const right = x > this.left + this.wide / 2;
    this.readout.style.left = right ? "auto" : `${x + 12}px`;
    this.readout.style.right = right ? `${this.frame.clientWidth - x + 12}px` : "auto";
  }
}
