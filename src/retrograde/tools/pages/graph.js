// The page of a graph: folds, searches, colours, and shows what is known of the node that was chosen.
"use strict";
(() => {
  const { html, svg } = DOM;
  const begun = performance.now();
  const READABLE = 0.75; // how small the page begins at most: the rest of a large graph is out of sight
  const model = LAYOUT.index(DOM.data()), nodes = model.nodes;
  const find = id => document.getElementById(id);
  const canvas = find("canvas"), stage = find("stage"), hits = find("hits"), panel = find("panel"), search = find("search");
  let scale = LAYOUT.scale(model, model.colour), chosen = null, found = new Set(), scene = null, view = { x: 0, y: 0, k: 1 };
  const layer = svg("g", {});
  canvas.append(svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6,
    orient: "auto" }, svg("path", { d: "M0,0L8,4L0,8z", fill: "#8d99ab" }))), layer);

  // ------------------------------------------------------------------------------------------------ drawing

  function drawBox(box) {
    const node = nodes[box.id], { fill, dark } = LAYOUT.colour(model, scale, node);
    const classes = ["box", node.c ? "group" : node.k, box.open ? "open" : ""];
    if (box.id === chosen) classes.push("chosen");
    if (found.has(box.id)) classes.push("hit");
    if (node.nans) classes.push("odd");
    const at = svg("g", { transform: `translate(${box.x.toFixed(1)},${box.y.toFixed(1)})`, "data-id": box.id });
    if (box.open) {
      at.append(svg("rect", { class: "own", width: box.w, height: box.h, rx: 7, fill: scale.name === "kind" ? fill : "#ffffff", "fill-opacity": 0.45 }),
        svg("rect", { width: box.w, height: 22, rx: 7, fill, "fill-opacity": 0.95 }));
      if (dark) classes.push("dark");
      for (let x = 10; x < box.w; x += 600) { // so that the title of a wide group is in sight
        const title = svg("text", { class: "title", x, y: 15 });
        title.textContent = "▾ " + LAYOUT.words(model, node)[0];
        at.append(title);
      }
    } else {
      if (node.c) at.append(svg("rect", { x: 4, y: 4, width: box.w, height: box.h, rx: 5, fill, "fill-opacity": 0.6 }));
      at.append(svg("rect", { class: "own", width: box.w, height: box.h, rx: node.k === "leaf" ? box.h / 2 : 5, fill }));
      if (dark) classes.push("dark");
      box.lines.forEach((line, i) => {
        const text = svg("text", { class: i ? "low" : "title", x: box.w / 2, y: 15 + i * 14, "text-anchor": "middle" });
        text.textContent = (node.c && !i ? "▸ " : "") + line;
        at.append(text);
      });
    }
    at.setAttribute("class", classes.join(" "));
    return at;
  }

  function draw() {
    scene = LAYOUT.scene(model);
    const near = id => chosen !== null && id === chosen;
    const edges = scene.edges.map(edge => svg("path", {
      class: "edge" + (edge.count > 1 ? " many" : "") + (near(edge.from) || near(edge.to) ? " near" : ""),
      d: LAYOUT.path(edge.points), "marker-end": edge.to === "out" ? null : "url(#arrow)",
    }, edge.look ? svg("title", {}, edge.look + (edge.count > 1 ? ` and ${edge.count - 1} more` : "")) : null));
    const open = scene.boxes.filter(box => box.open), closed = scene.boxes.filter(box => !box.open);
    layer.replaceChildren(...open.map(drawBox), ...edges, ...closed.map(drawBox));
    stage.dataset.visible = scene.boxes.length;
  }

  const look = () => layer.setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.k})`);
  const boxOf = id => scene.boxes.find(box => box.id === id);

  function fit(least) {
    const w = stage.clientWidth || 900, h = stage.clientHeight || 600;
    const k = Math.min(1.2, Math.max(least, Math.min(w / scene.w, h / scene.h)));
    view = { k, x: scene.w * k > w ? 8 : (w - scene.w * k) / 2, y: Math.max(8, (h - scene.h * k) / 2) };
    look();
  }

  function centre(id) {
    const box = boxOf(id);
    if (!box) return;
    view.k = Math.max(view.k, 0.7);
    view.x = stage.clientWidth / 2 - (box.x + box.w / 2) * view.k;
    view.y = stage.clientHeight / 2 - (box.y + Math.min(box.h, stage.clientHeight / view.k) / 2) * view.k;
    look();
  }

  // Folds or unfolds a group, whose top stays where it is seen.
  function toggle(id) {
    const from = performance.now(), before = boxOf(id);
    LAYOUT.toggle(model, id, !LAYOUT.isOpen(model, nodes[id]));
    choose(id);
    draw();
    const after = boxOf(id);
    if (before && after) {
      view.x += (before.x + before.w / 2 - after.x - after.w / 2) * view.k;
      view.y += (before.y - after.y) * view.k;
      look();
    }
    stage.dataset.folding = (performance.now() - from).toFixed(1);
  }

  function reveal(id) {
    for (let at = nodes[id].up; at; at = at.up) LAYOUT.toggle(model, at.id, true);
    choose(id);
    draw();
    centre(id);
  }

  // ------------------------------------------------------------------------------------------------ what is known of a node

  function histogram(bins) {
    if (!bins || bins[2].length < 2) return null;
    const [low, high, counts] = bins, most = Math.max(...counts), w = 320 / counts.length;
    const shape = svg("svg", { class: "histogram", width: 320, height: 62, viewBox: "0 0 320 62" });
    counts.forEach((count, i) => {
      const h = 44 * count / most;
      shape.append(svg("rect", { x: i * w, y: 46 - h, width: Math.max(1, w - 1), height: h }, svg("title", {}, String(count))));
    });
    const text = (x, anchor, value) => { const t = svg("text", { x, y: 58, "text-anchor": anchor }); t.textContent = LAYOUT.number(value); return t; };
    shape.append(text(0, "start", low), text(320, "end", high));
    return shape;
  }

  function figures(title, all, without) {
    if (!all) return without ? [html("h2", {}, title), html("div", { class: "soft" }, without)] : [];
    return all.flatMap((f, i) => {
      const heading = html("h2", {}, all.length > 1 ? `${title}, output ${i}` : title);
      if (!f) return [heading, html("div", { class: "soft" }, "nothing has arrived")];
      const [norm, least, most, mean, nans, infinities, zeros, bins, first] = f;
      if (first.length < 2 && bins && bins[2].length < 2) return [heading, html("code", {}, LAYOUT.number(first[0]))];
      return [heading, table([["norm", LAYOUT.number(norm)], ["from, to", LAYOUT.number(least) + ", " + LAYOUT.number(most)],
        ["mean", LAYOUT.number(mean)], ["zeros", String(zeros)], nans || infinities ? ["not finite", odd(nans, infinities)] : null,
        ["begins", html("code", {}, first.map(x => typeof x === "number" ? LAYOUT.number(x) : x).join(", "))]]), histogram(bins)];
    });
  }

  function odd(nans, infinities) {
    const text = [nans ? `${nans} nan` : "", infinities ? `${infinities} infinite` : ""].filter(Boolean).join(", ");
    return text ? html("span", { class: "bad" }, " " + text) : null;
  }

  const table = rows => html("table", {}, ...rows.filter(Boolean).map(([name, value]) => html("tr", {}, html("th", {}, name), html("td", {}, value))));
  const label = id => nodes[id].k === "leaf" ? nodes[id].n : nodes[id].n + " " + LAYOUT.place(model, nodes[id]);
  const link = (id, text) => html("a", { onclick: () => reveal(id) }, text || label(id));

  function passes(node) {
    const forward = (node.i || []).map(([source, , shape, dtype], i) => {
      if (source < 0 && !dtype) return null; // an operand that was left out
      const what = source >= 0 ? link(source) : html("span", { class: "soft" }, "no history");
      return html("tr", {}, html("th", {}, "operand " + i), html("td", {}, what, html("div", { class: "soft mono" }, `${dtype}[${shape.join(", ")}]`)));
    });
    const used = node.users.slice(0, 12).map(([id, position]) => html("tr", {}, html("th", {}, "used by"), html("td", {}, link(id), ` as operand ${position}`)));
    if (node.users.length > 12) used.push(html("tr", {}, html("td", {}), html("td", { class: "soft" }, `and ${node.users.length - 12} more`)));
    const arrived = node.users.flatMap(([id, position]) => (nodes[id].w || []).filter(w => w[0] === position).map(w =>
      html("tr", {}, html("th", {}, "from"), html("td", {}, link(id), `, norm ${LAYOUT.number(w[1])}`))));
    const went = (node.w || []).map(([position, norm, nans, infinities]) => {
      const source = node.i[position] ? node.i[position][0] : -1;
      return html("tr", {}, html("th", {}, "to operand " + position), html("td", {}, source >= 0 ? link(source) : "", `, norm ${LAYOUT.number(norm)}`,
        odd(nans, infinities)));
    });
    return [html("h2", {}, "Forward"), html("table", {}, ...forward, ...used),
      ...(arrived.length || went.length ? [html("h2", {}, "Backward"), html("table", {}, ...arrived.slice(0, 12), ...went)] : [])];
  }

  function choose(id) {
    chosen = id;
    const node = nodes[id], rows = [];
    if (node.k === "op") {
      rows.push(["result", html("span", { class: "mono" }, LAYOUT.look(node))]);
      if (node.y) rows.push(["module", node.y]);
      if (node.t) rows.push(["time", `${LAYOUT.time(node.t[0])} forward` + (node.t[1] ? `, ${LAYOUT.time(node.t[1])} backward` : "")]);
      rows.push(["keeps", node.m ? LAYOUT.bytes(node.m) + " for its derivative" : "nothing of its own"]);
      for (const [name, value] of Object.entries(node.p || {})) rows.push([name, html("code", {}, String(value))]);
      if (node.d) rows.push(["recorded", "in a backward pass, as part of a derivative"]);
    } else if (node.k === "leaf") rows.push(["shape", html("span", { class: "mono" }, LAYOUT.look(node))]);
    else {
      rows.push(["operations", String(node.count)], ["time", LAYOUT.time(node.time)], ["keeps", LAYOUT.bytes(node.bytes)]);
      if (node.norm !== null) rows.push(["largest gradient norm", LAYOUT.number(node.norm)]);
      if (node.nans) rows.push(["nan", html("span", { class: "bad" }, `${node.nans} elements`)]);
    }
    const source = node.l && model.lines[node.l[0]][node.l[1]];
    panel.replaceChildren(
      html("h1", {}, node.c ? LAYOUT.words(model, node)[0] : node.n),
      html("div", { class: "soft" }, LAYOUT.place(model, node) || (node.k === "leaf" ? "a leaf: gradients end here" : "")),
      source ? html("div", { class: "source mono" }, source) : "",
      node.c ? html("button", { onclick: () => toggle(id) }, LAYOUT.isOpen(model, node) ? "Fold" : "Unfold") : "",
      table(rows),
      ...(node.c ? [] : passes(node)),
      ...(node.c ? [] : figures(node.k === "leaf" ? "Value when it was first used" : "Value", node.v, "was not kept")),
      ...(node.c ? [] : figures(node.k === "leaf" ? "Gradient that arrived last" : "Gradient with respect to the value", node.g, "no backward pass has come here")),
    );
    stage.dataset.chosen = id;
  }

  // ------------------------------------------------------------------------------------------------ searching

  function text(node) {
    return (node.n + " " + (node.y || "") + " " + LAYOUT.place(model, node) + " " + LAYOUT.look(node)).toLowerCase();
  }

  function seek() {
    const wanted = search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const matches = wanted.length ? nodes.filter(node => node.up && wanted.every(word => (node.text || (node.text = text(node))).includes(word))) : [];
    found = new Set();
    for (const node of matches) for (let at = node; at; at = at.up) found.add(at.id);
    const rows = matches.slice(0, 40).map(node => html("div", { onclick: () => reveal(node.id) }, node.c ? LAYOUT.words(model, node)[0] : label(node.id),
      html("span", { class: "soft" }, "  " + (node.k === "op" ? node.y || "" : node.k === "leaf" ? LAYOUT.look(node) : node.k))));
    hits.replaceChildren(...(wanted.length ? [html("div", { class: "head" }, matches.length === 1 ? "1 match" : `${matches.length} matches`), ...rows] : []));
    stage.dataset.matches = matches.length;
    draw();
  }

  // ------------------------------------------------------------------------------------------------ colours

  function legend() {
    const measure = LAYOUT.MEASURES[scale.name], at = find("legend");
    const chip = (fill, name) => html("span", {}, html("span", { class: "chip", style: `background:${fill}` }), name);
    if (scale.name === "kind") at.replaceChildren(chip(LAYOUT.KINDS.op, "operation"), chip(LAYOUT.KINDS.leaf, "leaf"), chip(LAYOUT.KINDS.module, "module"), chip(LAYOUT.KINDS.function, "function"), chip(LAYOUT.KINDS.line, "line"));
    else if (scale.name === "nan") at.replaceChildren(chip(LAYOUT.NANS, "has a nan, in its value or a gradient"), chip(LAYOUT.INFINITIES, "has an infinity"), chip(LAYOUT.FINITE, "finite"));
    else if (!(scale.high > 0)) at.replaceChildren(`${measure.label}: not known here`);
    else {
      const ramp = Array.from({ length: 9 }, (_, i) => LAYOUT.shade(i / 8)).join(",");
      at.replaceChildren(html("b", {}, measure.label), html("span", {}, measure.show(scale.low)), html("span", { class: "ramp", style: `background:linear-gradient(90deg,${ramp})` }), html("span", {}, measure.show(scale.high)),
        html("span", { class: "soft" }, scale.name === "norm" ? "logarithmic; a group has its largest" : "logarithmic; a group has its sum"));
    }
  }

  // ------------------------------------------------------------------------------------------------ events

  const grouped = event => { const at = event.target.closest(".box"); return at ? Number(at.dataset.id) : null; };
  let drag = null;
  canvas.addEventListener("pointerdown", event => { drag = { x: event.clientX, y: event.clientY, vx: view.x, vy: view.y, far: false }; });
  window.addEventListener("pointermove", event => {
    if (!drag) return;
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (Math.abs(dx) + Math.abs(dy) > 4) drag.far = true;
    if (drag.far) { view.x = drag.vx + dx; view.y = drag.vy + dy; look(); }
  });
  window.addEventListener("pointerup", event => {
    const moved = drag && drag.far;
    const began = drag;
    drag = null;
    if (!began || moved) return;
    const id = grouped(event);
    if (id === null) return;
    if (nodes[id].c) return toggle(id);
    choose(id);
    draw();
  });
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const k = Math.min(4, Math.max(0.08, view.k * Math.exp(-event.deltaY * 0.0015)));
    view.x = x - (x - view.x) * k / view.k; view.y = y - (y - view.y) * k / view.k; view.k = k;
    look();
  }, { passive: false });
  search.addEventListener("input", seek);
  search.addEventListener("keydown", event => {
    if (event.key === "Escape") { search.value = ""; seek(); }
    const first = hits.querySelector("div:not(.head)");
    if (event.key === "Enter" && first) first.click();
  });
  document.addEventListener("keydown", event => { if (event.key === "/" && event.target !== search) { event.preventDefault(); search.focus(); } });
  find("colour").addEventListener("change", event => { scale = LAYOUT.scale(model, event.target.value); legend(); draw(); });
  find("folded").addEventListener("click", () => {
    model.opened = new Set(model.open);
    draw();
    fit(READABLE);
  });
  find("whole").addEventListener("click", () => fit(0.05));

  find("colour").value = model.colour;
  find("title").textContent = model.title;
  document.title = model.title + " – graph";
  find("note").textContent = `${nodes[0].count} operations` + (model.note ? ` · ${model.note}` : "");
  legend();
  choose(model.root);
  draw();
  fit(READABLE);
  stage.dataset.ready = (performance.now() - begun).toFixed(1);
})();
