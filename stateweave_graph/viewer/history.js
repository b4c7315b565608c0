// The history: what the page was given, and what follows from it. A node is its index: sequence minus one.

class History {
  constructor(data) {
    this.agent = data.agent;
    this.revision = data.revision;
    this.size = data.ids.length;
    this.ids = data.ids;
    this.kindNames = data.kindNames;
    this.kinds = data.kinds;
    this.turns = data.turns;
    this.times = data.times;
    this.keys = data.keys;
    this.payloads = data.payloads;
    this.extras = data.extras;
    this.parents = data.parents.map((sequences) => sequences.map((sequence) => sequence - 1).sort((a, b) => b - a));
    this.frontier = data.frontier.map((sequence) => sequence - 1);
    this.heads = new Set(this.frontier);
    this.children = Array.from({ length: this.size }, () => []);
    this.parents.forEach((parents, node) => parents.forEach((parent) => this.children[parent].push(node)));
    this.byId = new Map(this.ids.map((id, node) => [id, node]));
    this.versionsByKey = new Map();
    this.keys.forEach((key, node) => {
      if (!key) return; // an empty key names no resource
      if (!this.versionsByKey.has(key)) this.versionsByKey.set(key, []);
      this.versionsByKey.get(key).push(node);
    });
    this.fold = makeFold(data.folding);
    this.summaries = new Array(this.size);
    this.folded = new Array(this.size);
  }

  kindOf(node) {
    return this.kindNames[this.kinds[node]];
  }

  /** What a node says, on one line. */
  summary(node) {
    return (this.summaries[node] ??= summaryOf(this.kindOf(node), this.payloads[node]));
  }

  /** The versions of the resource that a node is one of, oldest first. */
  versions(node) {
    return this.versionsByKey.get(this.keys[node]) ?? [];
  }

  /** The nodes reached from a node along edges, without itself: its causes (up) or its effects. */
  reached(node, up) {
    const next = up ? this.parents : this.children;
    const marked = new Uint8Array(this.size);
    const waiting = [node];
    while (waiting.length) {
      for (const other of next[waiting.pop()]) {
        if (!marked[other]) {
          marked[other] = 1;
          waiting.push(other);
        }
      }
    }
    return Marks.of(marked);
  }

  /** The nodes in whose texts every word occurs; null where no word is asked for. */
  matching(query) {
    const terms = query.split(WHITE_SPACE).filter(Boolean).map(this.fold);
    if (!terms.length) return null;
    const marked = new Uint8Array(this.size);
    for (let node = 0; node < this.size; node += 1) {
      // No term holds white space, so none is found across the line breaks between texts.
      const text = (this.folded[node] ??= this.textsOf(node).map(this.fold).join("\n"));
      if (terms.every((term) => text.includes(term))) marked[node] = 1;
    }
    return Marks.of(marked);
  }

  textsOf(node) {
    const texts = [...stringsIn(JSON.parse(this.payloads[node]))];
    return this.keys[node] === null ? texts : [...texts, this.keys[node]];
  }

  /** The turns in order, each with its nodes' span, its goal and its last answer; turn 0 comes before any goal. */
  timeline() {
    const turns = [];
    for (let node = 0; node < this.size; node += 1) {
      const kind = this.kindOf(node);
      if (!turns.length || turns.at(-1).number !== this.turns[node]) {
        turns.push({ number: this.turns[node], first: node, last: node, goal: null, answer: null });
      }
      const turn = turns.at(-1);
      turn.last = node;
      if (kind === "goal") turn.goal = node;
      if (kind === "answer") turn.answer = node;
    }
    return turns;
  }
}

/** A set of nodes, with how many they are. */
class Marks {
  constructor(marked, count) {
    this.marked = marked;
    this.count = count;
  }

  static of(marked) {
    return new Marks(
      marked,
      marked.reduce((sum, one) => sum + one, 0),
    );
  }

  has(node) {
    return this.marked[node] === 1;
  }
}
