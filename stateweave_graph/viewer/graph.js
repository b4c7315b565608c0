// The graph: a row a node, by sequence, and a lane a kind. Only the rows in sight, and a few beyond, are in the
// document, and only edges that end at one of them are drawn, so the size of the history does not matter.

const ROW = 26;
const BEYOND = 14; // rows made above and below those in sight: scrolling by less asks for no work
const LANES = { wide: 15, narrow: 10, from: 480 }; // pixels a lane, in a list of at least so many pixels or not
const LONG = 24; // edges over more rows than this are not drawn whole: in a dense history they would fill the lanes
const STUB = 3; // rows that are drawn of each end of a long edge
const DOT = 4.5;

class Graph {
  /**
   * @param history the History.
   * @param view what is shown: {selected, marks, shows(node)}.
   * @param choose called with the node of a row that was clicked.
   */
  constructor(history, view, choose) {
    this.history = history;
    this.view = view;
    this.list = document.getElementById("list");
    this.sizer = document.getElementById("sizer");
    this.edges = document.getElementById("edges");
    this.overview = document.getElementById("overview");
    this.rows = [];
    this.drawn = { first: 0, last: -1 };
    this.lanes = this.lanesInUse();
    this.list.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.sizer.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) choose(this.order[Number(row.dataset.row)]);
    });
    this.overview.addEventListener("pointerdown", (event) => this.jumpTo(event));
    this.overview.addEventListener("pointermove", (event) => event.buttons && this.jumpTo(event));
    new ResizeObserver(() => this.draw()).observe(this.list);
    this.arrange();
  }

  /** Decide anew which nodes have rows. */
  arrange() {
    this.order = [];
    this.rowOf = new Int32Array(this.history.size).fill(-1);
    for (let node = 0; node < this.history.size; node += 1) {
      if (this.view.shows(node)) {
        this.rowOf[node] = this.order.length;
        this.order.push(node);
      }
    }
    this.sizer.style.height = `${this.order.length * ROW}px`;
  }

  /** Bring the row of a node into sight, with some rows around it where it was out of sight. */
  reveal(node) {
    const row = this.rowOf[node];
    if (row < 0) return;
    const height = this.list.clientHeight;
    const top = row * ROW;
    const above = top - this.list.scrollTop;
    if (above < 0 || above > height) this.list.scrollTop = top - height / 3;
    else if (above > height - ROW) this.list.scrollTop = top - height + ROW;
  }

  /** The rows that fit. */
  page() {
    return Math.max(1, Math.floor(this.list.clientHeight / ROW) - 1);
  }

  scrolled() {
    const { first, last } = this.inSight();
    if (first < this.drawn.first || last > this.drawn.last) this.draw();
    else this.drawOverview();
  }

  inSight() {
    const first = Math.floor(this.list.scrollTop / ROW);
    const last = Math.ceil((this.list.scrollTop + this.list.clientHeight) / ROW);
    return { first: Math.max(0, first), last: Math.min(this.order.length - 1, last) };
  }

  draw() {
    this.lane = this.list.clientWidth < LANES.from ? LANES.narrow : LANES.wide;
    this.list.style.setProperty("--lanes", `${this.laneWidth()}px`);
    const { first, last } = this.inSight();
    this.drawn = { first: Math.max(0, first - BEYOND), last: Math.min(this.order.length - 1, last + BEYOND) };
    this.placeRows();
    this.drawEdges();
    this.drawOverview();
  }

  placeRows() {
    const needed = this.drawn.last - this.drawn.first + 1;
    while (this.rows.length < needed) {
      const row = element(
        "div",
        { role: "option" },
        ...["seq", "kind", "label"].map((name) => element("span", { class: name })),
      );
      this.rows.push(this.sizer.appendChild(row));
    }
    this.rows.forEach((row, index) => {
      row.hidden = index >= needed;
      if (!row.hidden) this.fill(row, this.drawn.first + index);
    });
    const selected = this.rowOf[this.view.selected];
    const there = selected >= this.drawn.first && selected <= this.drawn.last;
    if (there) this.list.setAttribute("aria-activedescendant", `node-${this.view.selected + 1}`);
    else this.list.removeAttribute("aria-activedescendant");
  }

  fill(row, place) {
    const { history, view } = this;
    const node = this.order[place];
    const kind = history.kindOf(node);
    const head = history.heads.has(node);
    const marked = view.marks?.has(node);
    const left = view.marks !== null && !marked && node !== view.selected;
    row.className = "row";
    row.classList.toggle("head", head);
    row.classList.toggle("goal", kind === "goal");
    row.classList.toggle("marked", marked === true);
    row.classList.toggle("left", left);
    row.id = `node-${node + 1}`;
    row.dataset.row = place;
    row.style.top = `${place * ROW}px`;
    row.setAttribute("aria-selected", node === view.selected);
    row.setAttribute("aria-posinset", place + 1);
    row.setAttribute("aria-setsize", this.order.length);
    const [sequence, name, label] = row.children;
    sequence.textContent = node + 1;
    name.textContent = kind.replace("_", " ");
    name.dataset.kind = kind;
    label.textContent = history.summary(node);
  }

  drawEdges() {
    const { history, view, drawn } = this;
    const width = this.laneWidth();
    const height = (drawn.last - drawn.first + 1) * ROW;
    const pen = prepared(this.edges, width, height);
    this.edges.style.width = `${width}px`;
    this.edges.style.height = `${height}px`;
    this.edges.style.top = `${drawn.first * ROW}px`;
    const colours = currentColours(history.kindNames);
    const all = new Edges(this);
    for (let place = drawn.first; place <= drawn.last; place += 1) {
      const node = this.order[place];
      for (const parent of history.parents[node]) all.add(node, parent);
      for (const child of history.children[node]) {
        if (this.rowOf[child] > drawn.last) all.add(child, node); // the others are added from the child
      }
    }
    all.stroke(pen, colours.edge, { whole: 0.22, ends: 0.14, width: 1 });
    const { selected } = view;
    if (this.rowOf[selected] >= 0) {
      const effects = new Edges(this);
      for (const child of history.children[selected]) effects.add(child, selected);
      effects.stroke(pen, colours.effect, { whole: 1, ends: 0.75, width: 1.6 });
      const causes = new Edges(this);
      for (const parent of history.parents[selected]) causes.add(selected, parent);
      causes.stroke(pen, colours.cause, { whole: 1, ends: 0.75, width: 1.6 });
    }
    for (let place = drawn.first; place <= drawn.last; place += 1) this.drawDot(pen, place, colours);
  }

  drawDot(pen, place, colours) {
    const { history, view } = this;
    const node = this.order[place];
    const x = this.laneOf(node);
    const y = (place - this.drawn.first + 0.5) * ROW;
    pen.globalAlpha = view.marks !== null && !view.marks.has(node) && node !== view.selected ? 0.35 : 1;
    pen.fillStyle = colours.kinds[history.kinds[node]];
    circle(pen, x, y, node === view.selected ? DOT + 1.5 : DOT);
    pen.fill();
    if (history.heads.has(node)) {
      pen.strokeStyle = colours.text;
      pen.lineWidth = 1.5;
      circle(pen, x, y, DOT + 3);
      pen.stroke();
    }
  }

  /** The whole history as a strip: marks, heads, goals where there is room, and the part in sight. */
  drawOverview() {
    const { history, view, order } = this;
    const { clientWidth: width, clientHeight: height } = this.overview;
    const pen = prepared(this.overview, width, height);
    const colours = currentColours(history.kindNames);
    const step = Math.min(ROW, height / Math.max(order.length, 1));
    const tall = Math.max(1, Math.min(4, step - 1));
    const tick = (place, colour, inset) => {
      pen.fillStyle = colour;
      pen.fillRect(inset, (place + 0.5) * step - tall / 2, width - 2 * inset, tall);
    };
    const ticks = Math.max(1, Math.floor(1 / step)); // no more than one a pixel of what is everywhere
    for (let place = 0; place < order.length; place += ticks) {
      pen.globalAlpha = view.marks ? 0.2 : 0.6;
      tick(place, colours.kinds[history.kinds[order[place]]], 4);
    }
    pen.globalAlpha = 1;
    order.forEach((node, place) => {
      if (view.marks?.has(node)) tick(place, colours.cause, 3);
      if (history.heads.has(node)) tick(place, colours.text, 0);
    });
    const top = this.list.scrollTop / ROW;
    pen.strokeStyle = colours.text;
    pen.lineWidth = 1;
    const inSight = Math.min(this.list.clientHeight / ROW, order.length);
    pen.strokeRect(0.5, top * step + 0.5, width - 1, Math.max(inSight * step - 1, 4));
  }

  jumpTo(event) {
    const part = event.offsetY / this.overview.clientHeight;
    this.list.scrollTop = part * this.list.scrollHeight - this.list.clientHeight / 2;
  }

  /** Kinds that occur have a lane, in the order of the format. */
  lanesInUse() {
    const used = new Set(this.history.kinds);
    const lanes = new Map();
    for (let kind = 0; kind < this.history.kindNames.length; kind += 1) {
      if (used.has(kind)) lanes.set(kind, lanes.size);
    }
    return lanes;
  }

  laneWidth() {
    return (this.lanes.size + 1) * this.lane;
  }

  laneOf(node) {
    return (this.lanes.get(this.history.kinds[node]) + 1) * this.lane;
  }
}

/** Edges to be drawn in one colour: short ones whole, of long ones the two ends, once for each lane they lead to. */
class Edges {
  constructor(graph) {
    this.graph = graph;
    this.whole = new Path2D();
    this.ends = new Path2D();
    this.seen = new Set();
  }

  add(child, parent) {
    const { graph } = this;
    const from = graph.rowOf[child];
    const to = graph.rowOf[parent];
    if (from < 0 || to < 0) return;
    const x1 = graph.laneOf(child);
    const x2 = graph.laneOf(parent);
    if (from - to > LONG) {
      this.end(from, x1, x2, -1);
      this.end(to, x2, x1, 1);
      return;
    }
    const y1 = this.middle(from);
    const y2 = this.middle(to);
    const bend = Math.min((y1 - y2) / 2, 3 * ROW);
    const bulge = x1 === x2 && from - to > 1 ? Math.min(graph.lane * 0.8, (y1 - y2) / 10) : 0; // past the dots of its lane
    this.whole.moveTo(x1, y1);
    this.whole.bezierCurveTo(x1 + bulge, y1 - bend, x2 + bulge, y2 + bend, x2, y2);
  }

  /** The beginning of a long edge, up (-1) or down (1) into the lane it leads to. */
  end(row, own, other, direction) {
    const { drawn } = this.graph;
    const key = ((row * 2 + (direction + 1) / 2) << 8) | Math.round(other / this.graph.lane);
    if (row < drawn.first - STUB || row > drawn.last + STUB || this.seen.has(key)) return;
    this.seen.add(key);
    const y = this.middle(row);
    const length = direction * STUB * ROW;
    this.ends.moveTo(own, y);
    this.ends.bezierCurveTo(own, y + length / 2, other, y + length / 2, other, y + length);
  }

  middle(row) {
    return (row - this.graph.drawn.first + 0.5) * ROW;
  }

  stroke(pen, colour, { whole, ends, width }) {
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.globalAlpha = whole;
    pen.stroke(this.whole);
    pen.globalAlpha = ends;
    pen.setLineDash([4, 3]);
    pen.stroke(this.ends);
    pen.setLineDash([]);
  }
}

function circle(pen, x, y, radius) {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
}

/** A canvas of a size in CSS pixels, cleared, and sharp on any screen. */
function prepared(canvas, width, height) {
  const scale = window.devicePixelRatio;
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  return pen;
}

let colours = null;

/** The colours of the style sheet as they are in the theme of the moment. */
function currentColours(kindNames) {
  if (colours) return colours;
  const probe = document.body.appendChild(element("i"));
  const value = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const [edge, cause, effect, text] = ["edge", "cause", "effect", "text"].map(value);
  colours = { edge, cause, effect, text, kinds: kindNames.map(value) };
  probe.remove();
  return colours;
}

function forgetColours() {
  colours = null;
}
