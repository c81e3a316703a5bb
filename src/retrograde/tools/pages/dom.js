// Elements made from data: what is shown is always text, never markup.
"use strict";
const DOM = (() => {
  const NS = "http://www.w3.org/2000/svg";
  function add(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    }
    for (const child of children) if (child !== null && child !== undefined) element.append(child);
    return element;
  }
  const html = (tag, attributes, ...children) => add(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => add(document.createElementNS(NS, tag), attributes, children);
  const data = () => JSON.parse(document.getElementById("data").textContent);
  return { html, svg, data };
})();
