// The page: what is selected, marked and shown, and what keys and clicks change of it.

const story = new History(JSON.parse(document.getElementById("data").textContent));
const at = (id) => document.getElementById(id);

const view = {
  selected: -1,
  marks: null, // the Marks that stand out: matches of the search, or lineage or impact of a node
  reached: null, // "lineage" or "impact" where marks are that
  reachedFrom: -1,
  only: false, // whether nodes without a mark are left out
  hiddenKinds: new Set(),
  shows(node) {
    if (this.hiddenKinds.has(story.kinds[node])) return false;
    return !this.only || this.marks === null || this.marks.has(node) || node === this.reachedFrom;
  },
};
const graph = new Graph(story, view, (node) => go(node));
const details = new Details(story, { go: (node) => go(node), reach: (up) => mark(up ? "lineage" : "impact") });

/** Select a node by a jump that the browser's Back undoes. */
function go(node) {
  if (node === undefined || node < 0) return;
  location.hash = story.ids[node];
  select(node);
}

/** Select a node by a step: no entry in the browser's history. */
function step(node) {
  if (node === undefined || node < 0) return;
  history.replaceState(null, "", `#${story.ids[node]}`);
  select(node);
}

function select(node) {
  view.selected = node;
  const reached = view.reachedFrom === node ? view.reached : null;
  details.show(node, reached);
  graph.reveal(node);
  graph.draw();
  showTurn(story.turns[node]);
}

/** Mark what the selected node rests on, or what rests on it; nothing, if that is marked already. */
function mark(name) {
  if (view.selected < 0) return;
  const off = view.reached === name && view.reachedFrom === view.selected;
  view.reached = off ? null : name;
  view.reachedFrom = off ? -1 : view.selected;
  view.marks = off ? story.matching(at("query").value) : story.reached(view.selected, name === "lineage");
  remark();
}

function search() {
  view.reached = null;
  view.reachedFrom = -1;
  view.marks = story.matching(at("query").value);
  remark();
}

function clear() {
  at("query").value = "";
  view.only = false;
  search();
}

/** Show what is marked now. */
function remark() {
  if (view.marks === null) view.only = false;
  const searched = view.marks !== null && view.reached === null;
  at("marked").hidden = view.marks === null;
  at("only").setAttribute("aria-pressed", view.only);
  if (view.reached !== null) {
    const effects = view.marks.count === 1 ? "that rests on it" : "that rest on it";
    const what = view.reached === "lineage" ? "that it rests on" : effects;
    at("marked").firstElementChild.textContent =
      `Node ${view.reachedFrom + 1}: ${counted(view.marks.count, "node")} ${what}`;
  } else if (searched) {
    const count = view.marks.count;
    at("marked").firstElementChild.textContent = count ? counted(count, "node") + " found" : "Nothing found";
  }
  at("found").textContent = searched ? view.marks.count.toLocaleString("en") : "";
  at("previous").disabled = at("next").disabled = !view.marks?.count;
  rearrange();
}

function rearrange() {
  graph.arrange();
  at("nothing").hidden = graph.order.length > 0;
  if (view.selected >= 0) select(view.selected);
  else graph.draw();
}

/** The next shown node from the selected one that a test lets pass; -1 where there is none. */
function nextShown(forward, test) {
  const { order } = graph;
  const passes = (node) => (forward ? node > view.selected : node < view.selected) && test(node);
  return (forward ? order.find(passes) : order.findLast(passes)) ?? -1;
}

/** Go to the next or previous marked node, around the ends. */
function match(forward) {
  if (!view.marks?.count) return;
  const marked = (node) => view.marks.has(node);
  const found = nextShown(forward, marked);
  const around = forward ? graph.order.find(marked) : graph.order.findLast(marked);
  go(found >= 0 ? found : around);
}

function move(rows) {
  const place = graph.rowOf[view.selected];
  if (place < 0) return step(nextShown(rows > 0, () => true));
  step(graph.order[Math.max(0, Math.min(graph.order.length - 1, place + rows))]);
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  showTheme();
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function showTheme() {
  at("theme").textContent = isDark() ? "Light" : "Dark";
  forgetColours();
  graph.draw();
}

const keys = {
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  PageDown: () => move(graph.page()),
  PageUp: () => move(-graph.page()),
  Home: () => step(graph.order[0]),
  End: () => step(graph.order.at(-1)),
  "]": () => step(nextShown(true, (node) => story.kindOf(node) === "goal")),
  "[": () => step(nextShown(false, (node) => story.kindOf(node) === "goal")),
  "/": () => at("query").focus(),
  n: () => match(true),
  N: () => match(false),
  l: () => mark("lineage"),
  i: () => mark("impact"),
  o: () => at("only").click(),
  p: () => go(story.parents[view.selected]?.[0]),
  c: () => go(story.children[view.selected]?.[0]),
  t: () => setTheme(!isDark()),
  Escape: () => clear(),
  "?": () => at("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || at("keys").open) return;
  const { target, key } = event;
  if (target === at("query")) {
    if (key === "Escape") {
      clear();
      at("list").focus();
    }
    return;
  }
  const scrolls = target.closest("pre, #turns, #details") && /^(Arrow|Page|Home|End)/.test(key);
  if (scrolls || !(key in keys)) return;
  event.preventDefault();
  keys[key]();
});
at("list").addEventListener("keydown", (event) => {
  if (event.key === "Enter") match(true);
});
at("query").addEventListener("input", search);
at("search").addEventListener("submit", (event) => {
  event.preventDefault();
  match(true);
});
at("previous").addEventListener("click", () => match(false));
at("only").addEventListener("click", () => {
  view.only = !view.only && view.marks !== null;
  remark();
});
at("clear").addEventListener("click", clear);
at("theme").addEventListener("click", () => setTheme(!isDark()));
at("help").addEventListener("click", () => at("keys").showModal());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
addEventListener("hashchange", () => {
  const node = story.byId.get(location.hash.slice(1));
  if (node !== undefined && node !== view.selected) select(node);
});

function showKinds() {
  const counts = new Array(story.kindNames.length).fill(0);
  story.kinds.forEach((kind) => (counts[kind] += 1));
  story.kindNames.forEach((name, kind) => {
    if (!counts[kind]) return;
    const toggle = () => {
      const hidden = view.hiddenKinds.delete(kind) || !view.hiddenKinds.add(kind);
      button.setAttribute("aria-pressed", hidden);
      rearrange();
    };
    const button = element(
      "button",
      {
        type: "button",
        "data-kind": name,
        "aria-pressed": "true",
        title: `Show or hide ${name.replace("_", " ")} nodes`,
        onclick: toggle,
      },
      element("i", { "aria-hidden": "true" }),
      name.replace("_", " "),
      element("b", {}, counts[kind].toLocaleString("en")),
    );
    at("kinds").append(button);
  });
}

function showTurns() {
  const items = story.timeline().map((turn) => {
    const text = (name, node) =>
      node === null ? "" : element("span", { class: name, dir: "auto" }, story.summary(node));
    const title =
      turn.goal === null ? element("span", { class: "asked none" }, "Before the first goal") : text("asked", turn.goal);
    return element(
      "li",
      {},
      element(
        "button",
        { type: "button", "data-turn": String(turn.number), onclick: () => go(turn.goal ?? turn.first) },
        element("span", { class: "number" }, String(turn.number)),
        element("span", { class: "size" }, counted(turn.last - turn.first + 1, "node")),
        title,
        text("answered", turn.answer),
      ),
    );
  });
  document.querySelector("#turns ol").append(...items);
}

function showTurn(number) {
  const turns = at("turns");
  turns.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const button = turns.querySelector(`[data-turn="${number}"]`);
  button.setAttribute("aria-current", "true");
  const item = button.getBoundingClientRect();
  const box = turns.getBoundingClientRect();
  if (item.top < box.top + 30 || item.bottom > box.bottom) turns.scrollTop += item.top - box.top - box.height / 3;
}

function start() {
  const goals = story.size ? story.turns.at(-1) : 0;
  at("agent").textContent = visible(story.agent);
  at("counts").textContent = [
    `revision ${story.revision.toLocaleString("en")}`,
    counted(story.size, "node"),
    counted(goals, "turn"),
    counted(story.frontier.length, "head"),
  ].join(" · ");
  showKinds();
  showTurns();
  showTheme();
  remark();
  if (!story.size) return details.empty();
  select(story.byId.get(location.hash.slice(1)) ?? story.frontier.at(-1) ?? story.size - 1);
  at("list").focus({ preventScroll: true });
}

start();
