"""A graph in Graphviz's language: all operations and leaves, with the groups as clusters."""

from __future__ import annotations

from typing import Any

_LOOK = 'shape=box, style="rounded,filled", fillcolor="#e8eef7", fontsize=10'


def written(model: dict[str, Any]) -> str:
    """The text of a .dot file."""
    nodes = model["nodes"]
    lines = [f"digraph {_quoted(model['title'])} {{", f"  node [{_LOOK}];"]

    def write(number: int, indent: str) -> None:
        node = nodes[number]
        if "c" in node:
            if number:
                lines.append(f"{indent}subgraph cluster_{number} {{")
                lines.append(f"{indent}  label={_quoted(node['n'])};")
            for member in node["c"]:
                write(member, indent + "  ")
            if number:
                lines.append(f"{indent}}}")
            return
        looks = ", ".join(f"{dtype}[{', '.join(map(str, shape))}]" for shape, dtype in node["o"])
        place = f"{model['files'][node['l'][0]]}:{node['l'][1]}" if "l" in node else ""
        label = "\n".join(filter(None, (node["n"], looks, place)))
        leaf = ', shape=ellipse, fillcolor="#e6f3e6"' if node["k"] == "leaf" else ""
        lines.append(f"{indent}n{number} [label={_quoted(label)}{leaf}];")

    write(0, "")
    lines += [
        f"  n{source} -> n{number};"
        for number, node in enumerate(nodes)
        for source, *_ in node.get("i", ())
        if source >= 0
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
