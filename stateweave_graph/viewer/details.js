// The panel of the selected node.

const SHOWN_CHARACTERS = 20_000;
const SHOWN_NODES = 25;

class Details {
  /**
   * @param history the History.
   * @param act {go(node), reach(up)}: select a node; mark causes or effects of the selected one.
   */
  constructor(history, act) {
    this.history = history;
    this.act = act;
    this.panel = document.getElementById("details");
    this.node = -1;
  }

  /** Show a node; `reached` says which of its "lineage" and "impact" is marked. */
  show(node, reached) {
    if (node !== this.node) this.fill(node);
    for (const name of ["lineage", "impact"]) {
      document.getElementById(name).setAttribute("aria-pressed", name === reached);
    }
  }

  fill(node) {
    this.node = node;
    const { history } = this;
    const key = history.keys[node];
    const versions = history.versions(node);
    this.panel.replaceChildren(
      element("h2", {}, this.kind(node), (node + 1).toLocaleString("en"), ...this.badge(node)),
      element("dl", {}, ...this.facts(node)),
      element("div", { class: "reach" }, this.reach(node, true), this.reach(node, false)),
      element("h3", {}, "Payload"),
      this.text(payloadText(history.payloads[node]), "payload"),
      ...(String(node + 1) in history.extras
        ? [element("h3", {}, "Unknown fields"), this.text(indented(history.extras[node + 1]), "extra")]
        : []),
      ...this.nodes("Parents", "parents", history.parents[node]),
      ...this.nodes("Children", "children", history.children[node]),
      ...(key ? this.nodes("Versions", "versions", versions, node) : []),
    );
    this.panel.scrollTop = 0;
  }

  /** Say that there is no node. */
  empty() {
    this.panel.replaceChildren(element("p", {}, "This history has no nodes."));
  }

  badge(node) {
    return this.history.heads.has(node) ? [element("span", { class: "badge", title: "On the frontier" })] : [];
  }

  kind(node) {
    const kind = this.history.kindOf(node);
    return element("span", { class: "kind", "data-kind": kind }, kind.replace("_", " "));
  }

  facts(node) {
    const { history } = this;
    const id = element("code", { id: "node-id" }, history.ids[node]);
    const copy = element("button", { type: "button", id: "copy", onclick: () => copyText(id, copy) }, "Copy");
    const facts = [
      ["id", id, " ", copy],
      ["turn", String(history.turns[node])],
      ["created at", visible(history.times[node])],
    ];
    const key = history.keys[node];
    if (key !== null) facts.push(["resource key", element("bdi", { class: "key" }, visible(key))]);
    return facts.flatMap(([name, ...values]) => [element("dt", {}, name), element("dd", {}, ...values)]);
  }

  reach(node, up) {
    const name = up ? "lineage" : "impact";
    const { count } = this.history.reached(node, up);
    const title = up ? "All that this node rests on (l)" : "All that rests on this node (i)";
    return element(
      "button",
      { type: "button", id: name, title, onclick: () => this.act.reach(up) },
      up ? "Lineage " : "Impact ",
      element("strong", {}, count.toLocaleString("en")),
    );
  }

  /** A long text, its beginning first. */
  text(whole, id) {
    const pre = element(
      "pre",
      { id, tabindex: "0", "aria-label": id, dir: "auto" },
      visible(whole.slice(0, SHOWN_CHARACTERS)),
    );
    if (whole.length <= SHOWN_CHARACTERS) return pre;
    const more = element("button", {
      type: "button",
      onclick: () => {
        pre.textContent = visible(whole);
        more.remove();
      },
    });
    more.textContent = `Show all ${counted(whole.length, "character")}`;
    return element("div", {}, pre, more);
  }

  nodes(title, id, nodes, current) {
    const list = element(
      "ol",
      { id, class: "nodes" },
      ...nodes.slice(0, SHOWN_NODES).map((node) => this.link(node, current)),
    );
    const parts = [
      element("h3", { class: id }, title, element("span", { class: "count" }, nodes.length.toLocaleString("en"))),
      list,
    ];
    if (nodes.length > SHOWN_NODES) {
      const more = element("button", { type: "button" }, `Show all ${nodes.length.toLocaleString("en")}`);
      more.addEventListener("click", () => {
        list.append(...nodes.slice(SHOWN_NODES).map((node) => this.link(node, current)));
        more.remove();
      });
      parts.push(more);
    }
    return parts;
  }

  link(node, current) {
    const { history } = this;
    const go = () => this.act.go(node);
    const attributes = {
      type: "button",
      class: "link",
      "data-node": history.ids[node],
      "aria-current": node === current && "true",
      onclick: go,
    };
    const sequence = element("span", { class: "seq" }, String(node + 1));
    return element(
      "li",
      {},
      element(
        "button",
        attributes,
        sequence,
        this.kind(node),
        element("span", { class: "label", dir: "auto" }, history.summary(node)),
      ),
    );
  }
}

/** A payload for reading: a text as itself, anything else as JSON over lines. */
function payloadText(json) {
  return json[0] === '"' ? JSON.parse(json) : indented(json);
}

/** Copy the text of an element; where that is not allowed, select it. */
async function copyText(source, button) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source);
    button.textContent = "Selected";
  }
}
