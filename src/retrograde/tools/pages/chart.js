// Lines over the steps of a run, as an SVG: with bands where a point stands for several steps.
"use strict";
const CHART = (() => {
  const { html, svg } = DOM;
  const W = 1040, H = 260, LEFT = 62, RIGHT = 14, TOP = 10, BOTTOM = 26;

  const number = x => x === null || x === undefined ? "—" : typeof x === "string" ? x : x === 0 ? "0"
    : Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5 ? String(Number(x.toPrecision(4))) : x.toExponential(2);

  // The points of a series as [step in the middle, mean, least, largest], without those that have no number.
  function points(series) {
    const dense = series.x.length < series.m.length;
    return series.m.map((mean, i) => {
      const step = (dense ? series.x[0] + i : series.x[i]) * series.w + (series.w - 1) / 2;
      return [step, mean, series.l ? series.l[i] : mean, series.h ? series.h[i] : mean];
    }).filter(p => p[1] !== null);
  }

  function ticks(low, high, log) {
    if (log) {
      const from = Math.ceil(Math.log10(low) - 1e-9), to = Math.floor(Math.log10(high) + 1e-9), by = Math.max(1, Math.ceil((to - from) / 6));
      const found = [];
      for (let e = from; e <= to; e += by) found.push(10 ** e);
      return found.length > 1 ? found : [low, high];
    }
    const raw = (high - low) / 5 || 1, unit = 10 ** Math.floor(Math.log10(raw)), by = [1, 2, 5, 10].map(k => k * unit).find(k => k >= raw);
    const found = [];
    for (let x = Math.ceil(low / by) * by; x <= high + by / 1e6; x += by) found.push(Number(x.toPrecision(10)));
    return found;
  }

  const hue = (i, n) => n < 2 ? "#1f6feb" : `hsl(${Math.round(220 - 215 * i / (n - 1))},70%,45%)`;

  // all: [{name, series}]; options: log, guide, steps, keys (whether names stand below), share (from 0 to 1).
  function chart(all, options) {
    const log = options.log, root = html("div", { class: "chart" });
    const lines = all.map((entry, i) => ({ ...entry, points: points(entry.series).filter(p => !log || p[1] > 0), colour: hue(i, all.length) })).filter(x => x.points.length);
    if (!lines.length) { root.append(html("div", { class: "soft" }, options.none)); return { root, pick() {} }; }
    let low = Infinity, high = -Infinity, first = Infinity, last = -Infinity;
    for (const line of lines) for (const [step, mean, least, most] of line.points) {
      low = Math.min(low, log && !(least > 0) ? mean : least); high = Math.max(high, most);
      first = Math.min(first, step); last = Math.max(last, step);
    }
    if (options.guide) { low = Math.min(low, options.guide); high = Math.max(high, options.guide); }
    if (options.share) { low = 0; high = 1; }
    if (log) { low /= 1.2; high *= 1.2; } else if (!options.share) { const pad = (high - low || Math.abs(high) || 1) * 0.05; low -= pad; high += pad; }
    if (first === last) { first -= 0.5; last += 0.5; }
    const of = log ? Math.log : x => x;
    const x = step => LEFT + (step - first) / (last - first) * (W - LEFT - RIGHT);
    const y = value => H - BOTTOM - (of(Math.max(value, log ? low : value)) - of(low)) / (of(high) - of(low)) * (H - TOP - BOTTOM);
    const at = p => x(p[0]).toFixed(1) + "," + y(p[1]).toFixed(1);
    const drawing = svg("svg", { viewBox: `0 0 ${W} ${H}` });
    for (const value of ticks(low, high, log)) {
      drawing.append(svg("line", { class: "grid", x1: LEFT, x2: W - RIGHT, y1: y(value), y2: y(value) }), svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, number(value)));
    }
    for (const step of ticks(first, last, false)) if (Number.isInteger(step)) drawing.append(svg("text", { x: x(step), y: H - 9, "text-anchor": "middle" }, String(step)));
    if (options.guide) drawing.append(svg("line", { class: "guide", x1: LEFT, x2: W - RIGHT, y1: y(options.guide), y2: y(options.guide) }));
    for (const line of lines) {
      const p = line.points;
      line.parts = [];
      if (line.series.l) {
        const upper = p.map(q => at([q[0], q[3]])), lower = p.map(q => at([q[0], log && !(q[2] > 0) ? q[1] : q[2]])).reverse();
        line.parts.push(svg("path", { class: "band", fill: line.colour, d: "M" + upper.concat(lower).join("L") + "Z" }));
      }
      if (p.length === 1) line.parts.push(svg("circle", { cx: x(p[0][0]), cy: y(p[0][1]), r: 3, fill: line.colour }));
      else line.parts.push(svg("path", { class: "line", stroke: line.colour, d: "M" + p.map(at).join("L") }));
      drawing.append(...line.parts);
    }
    for (const line of lines) for (const i of line.series.n || []) {
      const series = line.series, step = ((series.x.length < series.m.length ? series.x[0] + i : series.x[i]) + 0.5) * series.w - 0.5;
      drawing.append(svg("circle", { class: "odd", cx: Math.min(W - RIGHT, Math.max(LEFT, x(step))), cy: TOP + 4, r: 3 }, svg("title", {}, `not finite at step ${Math.round(step)}`)));
    }
    const tip = html("div", { class: "tip", hidden: "" });
    let picked = null;
    function show(name) {
      for (const line of lines) for (const part of line.parts) {
        part.classList.toggle("faint", name !== null && line.name !== name);
        part.classList.toggle("strong", name !== null && line.name === name);
      }
    }
    drawing.addEventListener("pointermove", event => {
      const box = drawing.getBoundingClientRect(), k = W / box.width, mx = (event.clientX - box.left) * k, my = (event.clientY - box.top) * k;
      let best = null;
      for (const line of lines) for (const p of line.points) {
        const d = Math.abs(x(p[0]) - mx) * 2 + Math.abs(y(p[1]) - my);
        if (best === null || d < best.d) best = { d, line, p };
      }
      if (best === null || best.d > 160) { tip.hidden = true; show(picked); return; }
      const [step, mean, least, most] = best.p, w = best.line.series.w;
      const where = w > 1 ? `steps ${step - (w - 1) / 2}–${step + (w - 1) / 2}` : `step ${step}`;
      tip.textContent = `${best.line.name} · ${where}: ${number(mean)}` + (least !== most ? ` (${number(least)} to ${number(most)})` : "");
      tip.hidden = false;
      tip.style.top = ((y(mean) / k) + 8) + "px";
      tip.style.left = Math.min(box.width - 260, Math.max(0, x(step) / k + 10)) + "px";
      show(best.line.name);
    });
    drawing.addEventListener("pointerleave", () => { tip.hidden = true; show(picked); });
    root.append(drawing, tip);
    if (lines.length > 1 && lines.length <= 12) root.append(html("div", { class: "keys" }, ...lines.map(line => html("span", {}, html("i", { style: `background:${line.colour}` }), line.name))));
    return { root, pick(name) { picked = name; show(name); } };
  }

  return { chart, number };
})();
