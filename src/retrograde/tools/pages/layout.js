// The graph as groups that fold: what is visible, laid out group by group with dagre. No DOM, so that pictures can be made elsewhere.
"use strict";
const LAYOUT = (() => {
  const CHARACTER = 6.3, LINE = 14, PADDING = 9, HEADER = 24, MARGIN = 12;

  // Adds to a model's nodes: parent `up`, depth, and for groups the sums over what is in them and the edges between members.
  function index(model) {
    const nodes = model.nodes;
    nodes.forEach((node, id) => { node.id = id; node.users = []; });
    const walk = (node, up, depth) => {
      node.up = up; node.depth = depth;
      for (const child of node.c || []) walk(nodes[child], node, depth + 1);
    };
    walk(nodes[0], null, 0);
    for (const node of nodes) {
      if (!node.c) continue;
      node.between = new Map(); node.entering = new Set(); node.leaving = new Set();
    }
    for (const node of nodes) {
      (node.i || []).forEach(([source], position) => {
        if (source < 0) return;
        nodes[source].users.push([node.id, position]);
        let a = nodes[source], b = node;
        while (a.up !== b.up) {
          if (a.depth >= b.depth) { a.up.leaving.add(a.id); a = a.up; }
          else { b.up.entering.add(b.id); b = b.up; }
        }
        const key = a.id + ">" + b.id, edge = a.up.between.get(key);
        if (edge) edge.count++; else a.up.between.set(key, { from: a.id, to: b.id, count: 1, look: look(nodes[source]) });
      });
    }
    const result = nodes[model.root];
    for (let at = result; at.up; at = at.up) at.up.leaving.add(at.id);
    sum(nodes[0], nodes);
    model.opened = new Set(model.open);
    return model;
  }

  function sum(node, nodes) {
    if (!node.c) {
      node.norm = magnitude(node.g); node.time = node.t ? node.t[0] + node.t[1] : 0; node.bytes = node.m || 0;
      node.nans = total(node.v, 4) + total(node.g, 4) + (node.w || []).reduce((n, w) => n + (w[2] || 0), 0);
      node.infinities = total(node.v, 5) + total(node.g, 5) + (node.w || []).reduce((n, w) => n + (w[3] || 0), 0);
      node.count = node.k === "op" ? 1 : 0;
      return;
    }
    Object.assign(node, { norm: null, time: 0, bytes: 0, nans: 0, infinities: 0, count: 0 });
    for (const id of node.c) {
      const child = nodes[id];
      sum(child, nodes);
      if (child.norm !== null && (node.norm === null || child.norm > node.norm)) node.norm = child.norm;
      node.time += child.time; node.bytes += child.bytes; node.nans += child.nans; node.infinities += child.infinities; node.count += child.count;
    }
  }

  function magnitude(figures) {
    let found = null;
    for (const f of figures || []) if (f && isFinite(f[0])) found = Math.hypot(found || 0, f[0]);
    return found;
  }
  const total = (figures, at) => (figures || []).reduce((n, f) => n + (f ? f[at] : 0), 0);
  const look = node => (node.o || []).map(([shape, dtype]) => dtype + "[" + shape.join(", ") + "]").join(", ");

  const isOpen = (model, node) => Boolean(node.c) && model.opened.has(node.id);

  function place(model, node) { return node.l ? model.files[node.l[0]] + ":" + node.l[1] : ""; }

  function words(model, node) {
    if (node.k === "op") {
      return [(node.b ? node.b + " · " : "") + node.n, look(node), place(model, node)].filter(Boolean);
    }
    if (node.k === "leaf") return [node.n.split(".").slice(-2).join("."), look(node)];
    const title = node.k === "module" ? node.n + (node.y && node.y !== node.n ? " · " + node.y : "")
      : node.k === "function" ? node.n + "()" : node.n;
    const amount = node.k === "leaves" ? node.c.length + " leaves" : node.count + (node.count === 1 ? " operation" : " operations");
    return [title, amount, place(model, node)].filter(Boolean);
  }

  const short = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;

  function size(model, node) {
    const lines = words(model, node).map(text => short(text, 34));
    const longest = Math.max(...lines.map((text, i) => text.length * (i ? 0.92 : 1.08)));
    return { lines, w: Math.max(64, longest * CHARACTER + 2 * PADDING), h: lines.length * LINE + PADDING };
  }

  // The layout of one group: boxes of its members, relative to its corner, and the edges between them. Each is kept, by what is
  // open in it, so that folding what was unfolded costs nothing.
  function laid(model, group) {
    const boxes = group.c.map(id => {
      const node = model.nodes[id];
      if (isOpen(model, node)) return { id, open: true, ...laid(model, node) };
      if (!node.size) node.size = size(model, node);
      return { id, open: false, ...node.size };
    });
    const state = boxes.map(box => box.open ? box.id + box.state : "").join(";");
    if (!group.laid) group.laid = new Map();
    if (!group.laid.has(state)) group.laid.set(state, { ...arranged(model, group, boxes), state: "(" + state + ")" });
    return group.laid.get(state);
  }

  function arranged(model, group, boxes) {
    const graph = new dagre.graphlib.Graph();
    const top = group.up === null ? 0 : HEADER;
    graph.setGraph({ rankdir: "TB", nodesep: 16, ranksep: 30, edgesep: 8, marginx: MARGIN, marginy: MARGIN });
    graph.setDefaultEdgeLabel(() => ({}));
    for (const box of boxes) graph.setNode(String(box.id), { width: box.w, height: box.h });
    const edges = [...group.between.values()];
    for (const edge of edges) graph.setEdge(String(edge.from), String(edge.to));
    if (group.up !== null) {
      if (group.entering.size) graph.setNode("in", { width: 6, height: 1 });
      if (group.leaving.size) graph.setNode("out", { width: 6, height: 1 });
      for (const id of group.entering) { graph.setEdge("in", String(id)); edges.push({ from: "in", to: id, count: 1 }); }
      for (const id of group.leaving) { graph.setEdge(String(id), "out"); edges.push({ from: id, to: "out", count: 1 }); }
    }
    dagre.layout(graph);
    for (const box of boxes) {
      const at = graph.node(String(box.id));
      box.x = at.x - box.w / 2; box.y = at.y - box.h / 2 + top;
    }
    const extent = graph.graph();
    const title = words(model, group)[0].length * CHARACTER + 60;
    return {
      w: Math.max(extent.width, title), h: extent.height + top, boxes,
      edges: edges.map(edge => ({
        ...edge, points: graph.edge(String(edge.from), String(edge.to)).points.map(p => [p.x, p.y + top]),
      })),
    };
  }

  // All that is to be seen, in coordinates of the whole: boxes, outer ones first, and edges.
  function scene(model) {
    const boxes = [], edges = [], root = model.nodes[0], whole = laid(model, root);
    const walk = (group, found, x, y) => {
      for (const edge of found.edges) edges.push({ ...edge, group: group.id, points: edge.points.map(p => [p[0] + x, p[1] + y]) });
      for (const box of found.boxes) {
        boxes.push({ id: box.id, open: box.open, x: x + box.x, y: y + box.y, w: box.w, h: box.h, lines: box.lines });
        if (box.open) walk(model.nodes[box.id], box, x + box.x, y + box.y);
      }
    };
    walk(root, whole, 0, 0);
    return { w: whole.w, h: whole.h, boxes, edges };
  }

  function toggle(model, id, open) {
    if (!model.nodes[id].c) return;
    if (open) model.opened.add(id); else model.opened.delete(id);
  }

  // A line through points, bent at the middles between them.
  function path(points) {
    if (points.length < 3) return "M" + points.map(p => p[0].toFixed(1) + "," + p[1].toFixed(1)).join("L");
    let text = "M" + points[0][0].toFixed(1) + "," + points[0][1].toFixed(1);
    for (let i = 1; i < points.length - 1; i++) {
      const p = points[i], q = points[i + 1], last = i === points.length - 2;
      const x = last ? q[0] : (p[0] + q[0]) / 2, y = last ? q[1] : (p[1] + q[1]) / 2;
      text += "Q" + p[0].toFixed(1) + "," + p[1].toFixed(1) + " " + x.toFixed(1) + "," + y.toFixed(1);
    }
    return text;
  }

  // ------------------------------------------------------------------------------------------------ colours

  const MEASURES = {
    kind: { label: "kind" },
    norm: { label: "gradient norm", of: n => n.norm, show: x => number(x), log: true },
    time: { label: "time", of: n => n.time || null, show: x => time(x), log: true },
    memory: { label: "memory kept", of: n => n.bytes || null, show: x => bytes(x), log: true },
    nan: { label: "nan", of: n => n.nans, show: x => String(x) },
  };
  const KINDS = { op: "#e8eef7", leaf: "#e6f3e6", module: "#f5ecd9", function: "#efe6f5", line: "#eeeeee", part: "#eeeeee",
    leaves: "#e6f3e6", program: "#ffffff" };

  const NANS = "#d7263d", INFINITIES = "#f6c667", FINITE = "#e6f3e6";

  // From light yellow over orange to dark red.
  const STOPS = [[255, 247, 214], [254, 217, 142], [254, 153, 41], [217, 95, 14], [153, 52, 4]];
  function shade(t) {
    const x = Math.min(1, Math.max(0, t)) * (STOPS.length - 1), i = Math.min(STOPS.length - 2, Math.floor(x)), f = x - i;
    return "rgb(" + STOPS[i].map((c, k) => Math.round(c + (STOPS[i + 1][k] - c) * f)).join(",") + ")";
  }

  // The least is below all but the smallest twentieth, so that a few values near 0 do not make the others look alike.
  function scale(model, name) {
    const measure = MEASURES[name];
    if (!measure.log) return { name };
    const single = model.nodes.filter(node => !node.c).map(measure.of).filter(x => x > 0).sort((a, b) => a - b);
    if (!single.length) return { name };
    const groups = model.nodes.filter(node => node.c && node.up).map(measure.of);
    return { name, low: single[Math.floor(single.length / 20)], high: Math.max(single[single.length - 1], ...groups) };
  }

  // The colour of a node, and whether it is so dark that what is written on it has to be light.
  function colour(model, scale, node) {
    const measure = MEASURES[scale.name];
    if (scale.name === "kind") return { fill: KINDS[node.k], dark: false };
    const x = measure.of(node);
    if (scale.name === "nan") return { fill: x ? NANS : node.infinities ? INFINITIES : FINITE, dark: Boolean(x) };
    if (x === null || x === undefined || !(scale.high > 0)) return { fill: "#f4f4f4", dark: false };
    if (x === 0) return { fill: "#dfe7f2", dark: false };
    const t = scale.high > scale.low ? (Math.log(x) - Math.log(scale.low)) / (Math.log(scale.high) - Math.log(scale.low)) : 0.5;
    return { fill: shade(t), dark: t > 0.7 };
  }

  // ------------------------------------------------------------------------------------------------ numbers

  function number(x) {
    if (x === null || x === undefined) return "—";
    if (typeof x === "string") return x;
    const size = Math.abs(x);
    return x === 0 || (size >= 1e-3 && size < 1e5) ? String(Number(x.toPrecision(4))) : x.toExponential(2);
  }
  const time = x => x >= 1e6 ? (x / 1e6).toPrecision(3) + " s" : x >= 1e3 ? (x / 1e3).toPrecision(3) + " ms" : x.toPrecision(3) + " µs";
  const bytes = x => x >= 1 << 30 ? (x / (1 << 30)).toPrecision(3) + " GiB" : x >= 1 << 20 ? (x / (1 << 20)).toPrecision(3) + " MiB"
    : x >= 1024 ? (x / 1024).toPrecision(3) + " KiB" : x + " B";

  return { index, scene, toggle, isOpen, path, scale, colour, shade, MEASURES, KINDS, NANS, INFINITIES, FINITE, number, time, bytes, look, place, words, short };
})();
