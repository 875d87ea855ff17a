"use strict";
// The map: up to 20,000 dots on a canvas, drawn anew when labels or predictions change.

const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#b5487f", "#8a6d00", "#5b4fc4", "#a33b20",
  "#2a7f9e", "#5f7d1f", "#7a5195", "#4d4d4d", "#c0392b", "#117a65", "#6c3483"];
const colourOf = (k) => PALETTE[k % PALETTE.length];

class RowMap {
  constructor(canvas, hover, pick, describe) {
    Object.assign(this, { canvas, hover, pick, describe });
    this.places = { rows: [], x: [], y: [] };
    this.colours = { predicted: [], labelled: {} };
    this.regression = false;
    this.current = null;
    this.cells = new Map(); // dots by square, to find the one under the pointer
    canvas.addEventListener("pointermove", (event) => this.point(event));
    canvas.addEventListener("pointerleave", () => { hover.style.display = "none"; });
    canvas.addEventListener("click", (event) => {
      const k = this.nearest(event);
      if (k !== null) this.pick(this.places.rows[k]);
    });
    canvas.addEventListener("keydown", (event) => this.walk(event));
    canvas.addEventListener("blur", () => { this.cursor = null; hover.style.display = "none"; this.draw(); });
    this.cursor = null; // the dot that arrow keys have reached
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  setPlaces(places) {
    this.places = places;
    this.index = new Map(places.rows.map((row, k) => [row, k]));
    this.cells.clear();
    places.rows.forEach((_, k) => {
      const key = this.cell(places.x[k], places.y[k]);
      if (!this.cells.has(key)) this.cells.set(key, []);
      this.cells.get(key).push(k);
    });
    this.draw();
  }

  cell(x, y) { return Math.floor(x / 25) * 100 + Math.floor(y / 25); }

  spot(k, size) {
    const edge = 8 * devicePixelRatio;
    return [edge + (this.places.x[k] / 1000) * (size.w - 2 * edge),
      edge + (1 - this.places.y[k] / 1000) * (size.h - 2 * edge)];
  }

  shade(value) {
    if (Array.isArray(value)) return value.length ? colourOf(value[0]) : this.grey; // several labels
    if (!this.regression) return colourOf(value);
    const [low, high] = this.range;
    const share = high > low ? Math.min(1, Math.max(0, (value - low) / (high - low))) : 0.5;
    return `hsl(${240 - 200 * share}, 70%, ${45 + 10 * share}%)`;
  }

  draw() {
    const { canvas } = this;
    const size = { w: canvas.clientWidth * devicePixelRatio, h: canvas.clientHeight * devicePixelRatio };
    if (!size.w) return;
    canvas.width = size.w; canvas.height = size.h;
    const pen = canvas.getContext("2d");
    const n = this.places.rows.length, unit = devicePixelRatio;
    const radius = unit * (n > 5000 ? 1.4 : n > 800 ? 2.2 : 3.5);
    const { predicted, labelled } = this.colours;
    if (this.regression && predicted.length) {
      const sorted = [...predicted].sort((a, b) => a - b);
      this.range = [sorted[Math.floor(n * 0.02)], sorted[Math.floor((n - 1) * 0.98)]];
    } else { this.range = [0, 1]; }
    const look = getComputedStyle(canvas);
    this.grey = look.caretColor; // a colour of the page, in the present look
    pen.globalAlpha = n > 5000 ? 0.55 : 0.75;
    for (let k = 0; k < n; k += 1) {
      const [x, y] = this.spot(k, size);
      pen.fillStyle = predicted.length ? this.shade(predicted[k]) : this.grey;
      pen.beginPath(); pen.arc(x, y, radius, 0, 7); pen.fill();
    }
    pen.globalAlpha = 1;
    const ink = look.color;
    for (const [row, code] of Object.entries(labelled)) {
      const k = this.index ? this.index.get(Number(row)) : undefined;
      if (k === undefined) continue;
      const [x, y] = this.spot(k, size);
      pen.fillStyle = this.shade(code); pen.strokeStyle = ink; pen.lineWidth = 1.5 * unit;
      pen.beginPath(); pen.arc(x, y, 4.5 * unit, 0, 7); pen.fill(); pen.stroke();
    }
    const k = this.index && this.current !== null ? this.index.get(this.current) : undefined;
    if (k !== undefined) {
      const [x, y] = this.spot(k, size);
      pen.strokeStyle = ink; pen.lineWidth = 2 * unit;
      pen.strokeRect(x - 7 * unit, y - 7 * unit, 14 * unit, 14 * unit);
    }
    if (this.cursor !== null && this.cursor < n) {
      const [x, y] = this.spot(this.cursor, size);
      pen.strokeStyle = ink; pen.lineWidth = 3 * unit;
      pen.beginPath(); pen.arc(x, y, 10 * unit, 0, 7); pen.stroke();
    }
  }

  // Arrow keys go to the nearest dot on that side, and Enter shows its row.
  walk(event) {
    const side = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const { rows, x, y } = this.places;
    if (event.key === "Enter" && this.cursor !== null) { event.preventDefault(); event.stopPropagation(); this.pick(rows[this.cursor]); return; }
    if (side === undefined || !rows.length) return;
    event.preventDefault();
    event.stopPropagation();
    const from = this.cursor ?? (this.index.get(this.current) ?? 0);
    let best = null, least = Infinity;
    for (let k = 0; k < rows.length; k += 1) {
      const along = (x[k] - x[from]) * side[0] + (y[k] - y[from]) * side[1];
      const across = Math.abs((x[k] - x[from]) * side[1]) + Math.abs((y[k] - y[from]) * side[0]);
      const far = along + 2 * across;
      if (along > 0 && across <= 2 * along && far < least) { least = far; best = k; }
    }
    this.cursor = best ?? from;
    this.draw();
    const [left, top] = this.spot(this.cursor, { w: this.canvas.clientWidth * devicePixelRatio, h: this.canvas.clientHeight * devicePixelRatio });
    this.name(this.cursor, left / devicePixelRatio, top / devicePixelRatio);
  }

  nearest(event) {
    const box = this.canvas.getBoundingClientRect(), edge = 8;
    const x = ((event.clientX - box.left - edge) / (box.width - 2 * edge)) * 1000;
    const y = (1 - (event.clientY - box.top - edge) / (box.height - 2 * edge)) * 1000;
    let best = null, least = 25 * 25;
    for (let dx = -25; dx <= 25; dx += 25) {
      for (let dy = -25; dy <= 25; dy += 25) {
        for (const k of this.cells.get(this.cell(x + dx, y + dy)) || []) {
          const far = (this.places.x[k] - x) ** 2 + (this.places.y[k] - y) ** 2;
          if (far < least) { least = far; best = k; }
        }
      }
    }
    return best;
  }

  point(event) {
    const k = this.nearest(event), box = this.canvas.getBoundingClientRect();
    this.hover.style.display = k === null ? "none" : "block";
    if (k === null) return;
    this.name(k, event.clientX - box.left, event.clientY - box.top);
  }

  name(k, left, top) {
    const row = this.places.rows[k];
    this.hover.style.display = "block";
    this.hover.textContent = this.describe(row, this.colours.predicted[k], this.colours.labelled[row]);
    this.hover.style.left = `${Math.max(0, Math.min(left + 12, this.canvas.clientWidth - 130))}px`;
    this.hover.style.top = `${top + 12}px`;
  }
}
