// What a still picture shows, as plain data: called where there is no browser.
"use strict";
globalThis.structuredClone = globalThis.structuredClone || (x => JSON.parse(JSON.stringify(x)));
function picture(text, measure) {
  const model = LAYOUT.index(JSON.parse(text)), scene = LAYOUT.scene(model), scale = LAYOUT.scale(model, measure);
  const known = scale.high > 0, { label, show } = LAYOUT.MEASURES[measure];
  return JSON.stringify({
    w: scene.w, h: scene.h, plain: measure === "kind",
    legend: known ? { label, low: show(scale.low), high: show(scale.high), shades: [0, 1, 2, 3, 4, 5, 6, 7].map(i => LAYOUT.shade(i / 7)) } : null,
    boxes: scene.boxes.map(box => {
      const node = model.nodes[box.id], { fill, dark } = LAYOUT.colour(model, scale, node);
      return { ...box, kind: node.k, fill, dark, title: LAYOUT.words(model, node)[0] };
    }),
    edges: scene.edges.map(edge => ({ path: LAYOUT.path(edge.points), arrow: edge.to !== "out", many: edge.count > 1 })),
  });
}
