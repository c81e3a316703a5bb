"""The tree of modules on which every dialect's module class stands, with table names of its own."""

import copy
import pickle

import numpy as np
import pytest

import retrograde as rg
from retrograde import Tensor
from retrograde.core.value import make
from retrograde.learn.containers import Listed, Named
from retrograde.learn.modules import (
    Kind,
    Kinds,
    Tree,
    define_kinds,
    described,
    forget,
    init_tables,
    known_names,
    members,
    named_children,
    own_state,
    taken,
    tree_state,
    walk,
)  # fmt: skip


class Weight(Tensor):
    """What a dialect's Parameter is."""


class Node(Tree):
    _tree_transient = "_skipped"

    def __init__(self, **attributes):
        init_tables(self)
        for name, value in attributes.items():
            setattr(self, name, value)

    def __repr__(self):
        return described(type(self).__name__, "", named_children(self))


KINDS = Kinds(
    Kind("_weights", "weight", (Weight,), (Weight,)),
    Kind("_nodes", "child", (Node,), (Node,)),
    Kind("_state", "buffer", (), (Tensor,)),
)
define_kinds(Node, KINDS)


def weight():
    return make(Weight, np.ones(1))


def test_what_is_set_enters_its_table_and_leaves_the_others():
    w, child = weight(), Node()
    node = Node(a=w, b=child, c=3)
    assert node._weights == {"a": w}
    assert node._nodes == {"b": child}
    assert node.c == 3
    assert node.a is w
    assert "a" not in node.__dict__
    node.c = w
    assert list(node._weights) == ["a", "c"]
    assert "c" not in node.__dict__
    node.b = w
    assert list(node._weights) == ["a", "c", "b"]
    assert not node._nodes
    node.b = None
    assert node._weights["b"] is None
    node.d = child
    del node.c
    with pytest.raises(AttributeError, match="no attribute 'c'"):
        _ = node.c
    forget(node, "a", KINDS.buffers)
    forget(node, "d", KINDS.children)
    assert not hasattr(node, "a")
    assert node.d is child


def test_an_entry_is_replaced_by_what_fits_only():
    node = Node(a=weight(), b=Node())
    node._state["s"] = rg.asarray([0.0])
    node._skipped.add("s")
    node.s = rg.asarray([2.0])
    assert node._state["s"][0] == 2.0
    for name, value, word in (("a", 3, "weight"), ("b", weight, "child"), ("s", "x", "buffer")):
        with pytest.raises(TypeError, match=f"{name} is a {word}"):
            setattr(node, name, value)
    assert taken(node, "a", KINDS.buffers)
    assert not taken(node, "a", KINDS.parameters)
    assert {"a", "b", "s"} <= set(known_names(node)) <= {*dir(node), *known_names(node)}


def test_too_early():
    class Late(Node):
        def __init__(self):
            self.a = weight()

    with pytest.raises(AttributeError, match=r"after Node.__init__\(\)"):
        Late()


def test_walks():
    shared, w = Node(w=weight()), weight()
    root = Node(x=shared, y=Node(z=shared, w=w), w=w)
    assert [path for path, _ in walk(root)] == ["", "x", "y"]
    assert [path for path, _ in walk(root, "net", unique=False)] == ["net", "net.x", "net.y", "net.y.z"]
    assert [name for name, _ in members(root, KINDS.parameters)] == ["w", "x.w"]
    assert [name for name, _ in members(root, KINDS.parameters, unique=False)] == ["w", "x.w", "y.w", "y.z.w"]
    assert [name for name, _ in members(root, KINDS.parameters, "net", recurse=False)] == ["net.w"]
    assert [path for path, _ in walk(root, seen={shared})] == ["", "y"]
    seen = []
    assert root.apply(seen.append) is root
    assert seen == [shared, shared, root.y, root]  # depth first, as often as it is reached


def test_state():
    node = Node(a=weight(), child=Node(b=weight()))
    node._state.update(kept=rg.asarray([1.0]), skipped=rg.asarray([2.0]), none=None)
    node._skipped.add("skipped")
    assert [name for name, _ in own_state(node)] == ["a", "kept"]
    assert [name for name, _ in tree_state(node, "net")] == ["net.a", "net.kept", "net.child.b"]
    again = copy.deepcopy(node)
    assert again.child.b is not node.child.b
    assert list(again._weights) == ["a"]


def test_depth_does_not_matter():
    root = node = Node()
    for _ in range(3000):
        node.below = Node()
        node = node.below
    assert sum(1 for _ in walk(root)) == 3001


class Row(Listed, Node):
    def __init__(self, children=()):
        super().__init__()
        self.extend(children)


def test_lists_of_modules():
    a, b, c = Node(), Node(), Node()
    row = Row([a, b])
    row.append(c).insert(0, c)
    assert list(row) == [c, a, b, c]
    assert list(row._nodes) == ["0", "1", "2", "3"]
    assert row[-1] is c
    assert list(row[1:3]) == [a, b]
    assert len(row) == 4
    assert row.pop(0) is c
    assert list(row._nodes) == ["0", "1", "2"]
    del row[:2]
    assert list(row) == [c]
    row[0] = a
    assert row[0] is a
    with pytest.raises(IndexError, match="out of range for 1"):
        row[1]
    with pytest.raises(TypeError, match="wanted a Node, got int"):
        row.append(3)
    assert list(Row([None])) == [None]


def test_text():
    assert repr(Node(a=Node(b=Node()))) == "Node(\n  (a): Node(\n    (b): Node()\n  )\n)"
    assert described("Net", "k=1", []) == "Net(k=1)"
    assert described("Net", "k=1\nl=2", [(0, "A()")]) == "Net(\n  k=1\n  l=2\n  (0): A()\n)"


def test_pickle():
    node = pickle.loads(pickle.dumps(Node(child=Node())))
    assert list(node._nodes) == ["child"]


class Table(Named, Node):
    def __setitem__(self, key, child):
        setattr(self, key, child)


def test_dicts_of_modules():
    a, b = Node(), Node()
    table = Table()
    table["x"], table["y"] = a, b
    assert (list(table), len(table), "x" in table, table["y"]) == (["x", "y"], 2, True, b)
    assert (list(table.keys()), list(table.values()), dict(table.items())) == (["x", "y"], [a, b], {"x": a, "y": b})
    assert table.pop("x") is a
    del table["y"]
    with pytest.raises(KeyError):
        table["y"]
    table["x"] = a
    table.clear()
    assert not table._nodes
