// The page about a run.
"use strict";
(() => {
  const { html } = DOM, { chart, number } = CHART;
  const data = DOM.data(), find = id => document.getElementById(id);
  const place = l => l ? data.files[l[0]] + ":" + l[1] : "";
  const source = l => l ? data.lines[l[0]][l[1]] || "" : "";
  const time = s => s >= 1 ? s.toPrecision(3) + " s" : s >= 1e-3 ? (s * 1e3).toPrecision(3) + " ms" : (s * 1e6).toPrecision(3) + " µs";
  const bytes = x => x >= 1 << 30 ? (x / (1 << 30)).toPrecision(3) + " GiB" : x >= 1 << 20 ? (x / (1 << 20)).toPrecision(3) + " MiB" : x >= 1024 ? (x / 1024).toPrecision(3) + " KiB" : x + " B";
  const cell = (content, kind) => html("td", { class: kind }, content);
  const bar = share => html("td", { class: "bar" }, html("i", { style: `width:${(100 * Math.min(1, share)).toFixed(1)}%` }));

  function table(heads, rows, none) {
    if (!rows.length) return html("div", { class: "soft" }, none);
    return html("div", { class: "scroll" }, html("table", {}, html("tr", {}, ...heads.map(h => html("th", { class: h.startsWith("#") ? "number" : null }, h.replace("#", "")))), ...rows));
  }

  find("title").textContent = data.title;
  document.title = data.title + " – report";
  find("summary").textContent = `${data.steps} steps, ${data.parameters.length} parameters, ${time(data.seconds)} with watching`;

  find("loss").append(chart(data.losses.map(x => ({ name: place(x.at), series: x })), { none: "No backward pass began at a single number." }).root);
  const named = key => data.parameters.map(p => ({ name: p.n, series: p[key] }));
  const gradients = chart(named("g"), { log: true, none: "No optimiser's step with a gradient." });
  const ratios = chart(named("r"), { log: true, guide: 1e-3, none: "No optimiser's step." });
  find("gradients").append(gradients.root);
  find("ratios").append(ratios.root);

  let picked = null;
  const rows = data.parameters.map(p => {
    const row = html("tr", { class: "pick", onclick: () => {
      const same = picked === row;
      if (picked) picked.classList.remove("picked");
      picked = same ? null : row;
      if (picked) picked.classList.add("picked");
      gradients.pick(picked && p.n); ratios.pick(picked && p.n);
    } }, cell(p.n), cell(p.shape.join("×") || "1", "mono"), cell(number(p.weight), "number"), cell(number(p.last), "number"), cell(number(p.most), "number"), cell(number(p.ratio), "number"));
    return row;
  });
  find("parameters").append(table(["name", "shape", "#weight", "#gradient at last", "#largest", "#update to weight"], rows, "No optimiser has changed a parameter."));
  if (data.left) find("parameters").append(html("div", { class: "soft" }, `${data.left} more parameters are left out.`));

  find("units").append(chart(data.units.map(u => ({ name: u.name + " " + place(u.at), series: u })), { share: true, none: "No activation that cuts off was recorded." }).root);
  if (data.units.length) find("units").append(table(["activation", "line", "#units", `#dead in the last ${data.window} steps`, "#never alive"],
    data.units.map(u => html("tr", {}, cell(u.name), cell(place(u.at), "mono"), cell(String(u.units), "number"), cell(html("span", { class: u.dead ? "bad" : null }, String(u.dead)), "number"), cell(String(u.never), "number")))));

  const all = data.seconds || 1;
  find("lines").append(table(["line", "", "operations", "#calls", "#forward", "#backward", "#new memory", "share of the run"],
    data.rows.map(([l, names, calls, forward, backward, made]) => html("tr", {}, cell(place(l) || "not known", "mono"), cell(source(l).slice(0, 70), "mono"), cell(names), cell(String(calls), "number"), cell(time(forward), "number"), cell(time(backward), "number"), cell(bytes(made), "number"), bar((forward + backward) / all))),
    "No operation."), html("div", { class: "soft" }, `${time(data.rest)} of ${time(data.seconds)} were spent elsewhere.`));
  find("operations").append(table(["operation", "#calls", "#forward", "#backward", "#new memory", "share of the run"],
    data.operations.map(([name, calls, forward, backward, made]) => html("tr", {}, cell(name), cell(String(calls), "number"), cell(time(forward), "number"), cell(time(backward), "number"), cell(bytes(made), "number"), bar((forward + backward) / all))), "No operation."));
  find("peak").append(html("div", {}, bytes(data.peak) + " at the peak"), table(["line", "made by", "#bytes", "share"],
    data.at_peak.map(([l, name, size]) => html("tr", {}, cell(place(l), "mono"), cell(name), cell(bytes(size), "number"), bar(size / (data.peak || 1)))), "Nothing."));
  find("compiled").append(table(["function", "line", "calls", "why"],
    data.compiled.map(f => html("tr", {}, cell(f.n), cell(f.l, "mono"), cell(Object.entries(f.counts).filter(e => e[1]).map(e => e.join(" ")).join(", ")), cell(f.why.join("; ")))),
    "No function was given to the compiler."));
  document.body.dataset.ready = "yes";
})();
