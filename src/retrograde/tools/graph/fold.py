"""The operations of a graph in groups that fold: calls of modules and functions, lines with many operations, parts of long runs.

A group is what happened between two moments, so a graph of groups has no cycles, whichever of them are open. Groups stand in
others as calls do. What has one operation only is that operation.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ..seeing.calls import FUNCTION, MODULE, Call, Place
from .records import Leaf, Operation, behind

PROGRAM, LINE, PART, LEAVES = "program", "line", "part", "leaves"
"""Kinds of groups beside calls of modules and functions."""

CROWDED = 12
"""From so many members on, operations that follow each other on one line are a group."""
MOST = 48
"""So many members has a group at most: more are divided into parts."""
LARGEST_PART = 40
MOST_LEAVES = 12
OPENED = 40
"""How many boxes are there at the beginning, at most."""


class Group:
    """Members that are shown as one as long as the group is folded."""

    def __init__(self, kind: str, name: str, type: str = "", place: Place = ("", 0)) -> None:
        self.kind, self.name, self.type, self.place = kind, name, type, place
        self.members: list[Group | Operation | Leaf] = []
        self.open = False
        self.call: Call | None = None


def folded(root: Operation | Leaf, name: str) -> Group:
    """The graph behind a record as a tree of groups, of which so many are open as can be seen at once."""
    records = list(behind(root))
    top = Group(PROGRAM, name)
    groups: dict[Call, Group] = {}
    operations = sorted((x for x in records if type(x) is Operation), key=lambda x: x.number)
    for operation in operations:
        group = top
        for call in operation.call.chain() if operation.call is not None else ():
            inner = groups.get(call)
            if inner is None:
                inner = groups[call] = Group(call.kind, call.name, call.type, call.place)
                inner.call = call
                group.members.append(inner)
            group = inner
        group.members.append(operation)
    _alone(top)
    _divided(top)
    _place_leaves(top, [x for x in records if type(x) is Leaf], operations)
    unfold(top)
    return top


def _alone(group: Group) -> None:
    """Let operations take the place of groups that have nothing else."""
    for i, member in enumerate(group.members):
        if type(member) is Group:
            _alone(member)
            if len(member.members) == 1 and type(member.members[0]) is Operation:
                group.members[i] = member.members[0]


def _divided(group: Group) -> None:
    for member in group.members:
        if type(member) is Group:
            _divided(member)
    if len(group.members) > CROWDED:
        group.members = _by_line(group.members)
    first = 1
    while len(group.members) > MOST:
        parts = []
        for i in range(0, len(group.members), LARGEST_PART):
            some = group.members[i : i + LARGEST_PART]
            part = Group(PART, f"part {first + i // LARGEST_PART}", place=_place(some[0]))
            part.members = some
            parts.append(part)
        group.members = list(parts)


def _by_line(members: list[Any]) -> list[Any]:
    found: list[Any] = []
    for member in members:
        last = found[-1] if found else None
        place = member.place if type(member) is Operation else None
        if place and place[0]:
            if type(last) is Group and last.kind == LINE and last.place == place:
                last.members.append(member)
                continue
            line = Group(LINE, said(place), place=place)
            line.members.append(member)
            found.append(line)
        else:
            found.append(member)
    return [
        x for m in found for x in (m.members if type(m) is Group and m.kind == LINE and len(m.members) < 3 else (m,))
    ]


def _place(member: Group | Operation | Leaf) -> Place:
    return member.place if isinstance(member, (Group, Operation)) else ("", 0)


def _place_leaves(top: Group, leaves: Iterable[Leaf], operations: list[Operation]) -> None:
    """Put each leaf into the innermost group that has all that use it, before the first of them."""
    way: dict[int, list[Group]] = {}

    def walk(group: Group, around: list[Group]) -> None:
        here = [*around, group]
        for member in group.members:
            if type(member) is Group:
                walk(member, here)
            else:
                way[id(member)] = here

    walk(top, [])
    common: dict[int, list[Group]] = {}
    first: dict[int, Operation] = {}
    for operation in operations:
        for operand in operation.operands:
            leaf = operand.source
            if type(leaf) is Leaf:
                path = way[id(operation)]
                known = common.setdefault(id(leaf), path)
                n = 0
                while n < min(len(known), len(path)) and known[n] is path[n]:
                    n += 1
                common[id(leaf)] = known[:n]
                first.setdefault(id(leaf), operation)
    placed: dict[int, tuple[Group, list[tuple[int, Leaf]]]] = {}
    for leaf in sorted(leaves, key=lambda x: x.number):
        group = common.get(id(leaf), [top])[-1]
        user = first.get(id(leaf))
        at = 0
        if user is not None:
            down: list[Any] = [*way[id(user)], user]
            inner = down[len(common[id(leaf)])]
            at = next(i for i, m in enumerate(group.members) if m is inner)
        placed.setdefault(id(group), (group, []))[1].append((at, leaf))
    for group, entries in placed.values():
        if len(entries) > MOST_LEAVES:
            together = Group(LEAVES, "leaves")
            together.members = [leaf for _, leaf in entries]
            group.members.insert(0, together)
        else:
            for at, leaf in sorted(entries, key=lambda e: e[0])[::-1]:
                group.members.insert(at, leaf)


def unfold(top: Group, most: int = OPENED) -> None:
    """Open groups, outer ones first, as long as no more than so many boxes are to be seen."""
    top.open = True
    seen = len(top.members)
    level: list[Group] = [top]
    while level:
        inner = [m for g in level for m in g.members if type(m) is Group and m.kind != LEAVES]
        level = []
        for group in sorted(inner, key=lambda g: len(g.members)):
            if seen + len(group.members) <= most:
                seen += len(group.members)
                group.open = True
                level.append(group)


def visible(group: Group) -> int:
    """How many boxes a group shows: its members and what those that are open show."""
    return len(group.members) + sum(visible(m) for m in group.members if type(m) is Group and m.open)


def said(place: Place) -> str:
    """A place as FILE:LINE, the file without its folder."""
    return f"{os.path.basename(place[0])}:{place[1]}" if place[0] else ""


__all__ = ["FUNCTION", "LEAVES", "LINE", "MODULE", "PART", "PROGRAM", "Group", "folded", "said", "unfold", "visible"]
