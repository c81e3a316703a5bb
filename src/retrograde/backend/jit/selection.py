"""Positions by order, line by line, as generated code: sorted, the first k, the k-th, the median.

NumPy sorts pairs by comparisons, number by number, and the whole line where a few of its elements are asked for. Here

- the first few are kept in a list, and a vector of numbers is passed over when none of it belongs there;
- the k-th is looked for by halving the interval of keys in which it lies, a count of the line for each bit that matters;
- short lines are sorted by counting, for each element, those that come before it, long ones digit by digit.

Equal elements stay in order, nan is the largest (`lines.Keys`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from . import llvm
from .lines import LEAST, PADDED, Keys, Lines, Room, during, each_line, either, lines, own_room, reduced, taken
from .vectors import Vectors

FEW = 8
"""So many of a line are kept in a list while it is read; more are found by the k-th of them."""

COUNTED = 128
"""Up to so many elements are sorted by counting, n² / 16 steps; digits have tables of 256 to be gone through."""

_MOST = (1 << 31) - 1  # positions that are sorted are i32


def order(x: np.ndarray, axis: int, descending: bool) -> np.ndarray | None:
    """The positions that sort each line along an axis; None where it is the caller's affair."""
    number = _number(x, axis)
    if number is None:
        return None
    function = _generated("order", number, descending)
    at = lines(x.shape, axis)
    return None if function is None else _found(function, x, at, x.shape, at.length, at.length)


def first(x: np.ndarray, axis: int, k: int, largest: bool) -> np.ndarray | None:
    """The positions of the k largest (smallest) of each line along an axis, in order; None where it is the caller's affair."""
    number = _number(x, axis)
    if number is None or not 0 < k <= x.shape[axis]:
        return None
    function = _generated("few" if k <= FEW else "first", number, largest)
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    return None if function is None else _found(function, x, lines(x.shape, axis), shape, k, k)


def kth(x: np.ndarray, axis: int, k: int) -> np.ndarray | None:
    """The position of the k-th smallest (from 0) of each line along an axis; None where it is the caller's affair."""
    return _one(x, axis, k)


def median(x: np.ndarray, axis: int, ignore_nan: bool) -> np.ndarray | None:
    """The position of the lower median of each line along an axis, of the first nan unless they are ignored; None where
    it is the caller's affair."""
    return _one(x, axis, -2 if ignore_nan else -1)


def _one(x: np.ndarray, axis: int, rank: int) -> np.ndarray | None:
    number = _number(x, axis)
    function = None if number is None else _generated("kth", number, False)
    if function is None:
        return None
    return _found(function, x, lines(x.shape, axis), (*x.shape[:axis], *x.shape[axis + 1 :]), 0, rank)


def _number(x: np.ndarray, axis: int) -> str | None:
    return taken(x) if x.size >= LEAST and 0 < x.shape[axis] < _MOST else None


def _found(function: Callable[..., None], x: np.ndarray, at: Lines, shape: Any, sorted: int, k: int) -> np.ndarray:
    """The positions that a kernel finds, as an array of a shape; `sorted`: how many of each line are put in order."""
    padded = -(-at.length // PADDED) * PADDED
    chosen = -(-sorted // PADDED) * PADDED
    # The keys, those that are chosen and where they stood; pairs twice, and the tables of eight digits.
    bytes = 8 * padded + 16 * chosen + (32 * sorted + 8 * 256 * 4 if sorted > COUNTED else 0) + 256
    room = Room(at.total, 2 * x.size, bytes)
    out = np.empty(shape, np.int64)
    function(*room.tiles, out, x, at.length, at.inner, k, room.address, room.grain, room.bytes)
    return out


@functools.cache
def _generated(name: str, number: str, descending: bool) -> Callable[..., None] | None:
    return llvm.shared(
        f"{name}_{number}{'_down' * descending}",
        "array out, array x, i64 length, i64 inner, i64 k, ptr room, i64 each, i64 bytes",
        lambda code: _Text(code, Keys(code, number, descending)).write(name),
    )


# ------------------------------------------------------------------------------------------ their code


class _Text:
    """The code of the kernels, for keys of a type."""

    def __init__(self, code: llvm.Code, keys: Keys) -> None:
        self.code, self.keys, self.v = code, keys, keys.vectors
        self.mask = f"i{keys.lanes}"
        code.declare("declare i64 @llvm.cttz.i64(i64, i1)")
        code.declare("declare i64 @llvm.ctpop.i64(i64)")
        code.declare("declare i64 @llvm.smax.i64(i64, i64)")

    def write(self, name: str) -> None:
        """For each line of the tile."""
        code = self.code
        room = own_room(code)
        padded = code.value(f"and i64 {code.add('%length', PADDED - 1)}, {-PADDED}")
        chosen = code.at("i8", room, code.mul(padded, 8))  # keys, then positions
        room_of_k = code.value(f"and i64 {code.add('%k', PADDED - 1)}, {-PADDED}")
        places = code.at("i8", chosen, code.mul(room_of_k, 8))
        pairs = code.at("i8", places, code.mul(room_of_k, 8))

        def line(o: str, c: str, begin: str) -> None:
            self.keys.read(room, "%x", begin)
            base = code.add(code.mul(code.mul(o, "%k"), "%inner"), c)

            def write(rank: str, position: str) -> None:
                code.do(f"store i64 {position}, ptr {code.at('i64', '%out', code.add(base, code.mul(rank, '%inner')))}")

            if name == "kth":
                found = self.at_rank(room, padded, self.rank(room, padded))
                code.do(f"store i64 {found}, ptr {code.at('i64', '%out', code.add(code.mul(o, '%inner'), c))}")
            elif name == "few":
                self.few(room, padded, chosen, places, write)
            elif name == "order":
                self.sort(room, "%length", pairs, lambda i: i, write)
            else:
                self.choose(room, padded, chosen, places)
                self.sort(
                    chosen, "%k", pairs, lambda i: code.value(f"load i64, ptr {code.at('i64', places, i)}"), write
                )  # fmt: skip

        each_line(code, line)

    # -------------------------------------------------------------------------------------- single instructions

    def key_at(self, keys: str, i: str) -> str:
        """A key by itself."""
        return self.code.value(f"load {self.keys.type}, ptr {self.code.at(self.keys.type, keys, i)}")

    def put_key(self, key: str, keys: str, i: str) -> None:
        """Write a key by itself."""
        self.code.do(f"store {self.keys.type} {key}, ptr {self.code.at(self.keys.type, keys, i)}")

    def spread(self, key: str) -> str:
        """A key in every lane."""
        return self.code.spread(self.v.lanes, self.keys.type, key)

    def bits(self, mask: str) -> str:
        """A mask of lanes as the bits of an i64."""
        word = self.code.value(f"bitcast {self.v.mask} {mask} to {self.mask}")
        return self.code.value(f"zext {self.mask} {word} to i64")

    def least_bit(self, bits: str) -> str:
        """The number of the lowest bit that is set."""
        return self.code.value(f"call i64 @llvm.cttz.i64(i64 {bits}, i1 true)")

    def without_least(self, bits: str) -> str:
        """Without the lowest bit that is set."""
        return self.code.value(f"and i64 {bits}, {self.code.add(bits, -1)}")

    def count(self, keys: str, padded: str, comparison: str, than: str) -> str:
        """How many of the padded keys compare so with a key, as an i64."""
        code, v, each = self.code, self.v, self.v.lanes
        bound = self.spread(than)

        def some(i: str, *totals: str) -> list[str]:
            found = list(totals)
            for part in range(PADDED // each):
                holds = v.two(comparison, v.load(keys, code.add(i, part * each)), bound)
                at = part % len(found)
                found[at] = v.two("sub", found[at], code.value(f"sext {v.mask} {holds} to {v.type}"))
            return found

        totals = code.loop(0, padded, PADDED, some, carried=[(v.type, v.constant(0))] * 2)
        total = reduced(v, "add", v.add(*totals))
        return total if self.keys.type == "i64" else code.value(f"zext i32 {total} to i64")

    # -------------------------------------------------------------------------------------- the k-th

    def rank(self, keys: str, padded: str) -> str:
        """How many come before the element that is asked for: k, or what the median says."""
        code = self.code
        middle = code.value(f"ashr i64 {code.add('%length', -1)}, 1")
        if self.keys.number in ("float", "double"):
            excess = code.value(f"sub i64 {padded}, %length")

            def numbers() -> str:
                largest = self.count(keys, padded, "icmp eq", str(self.keys.largest))
                return code.value(f"sub i64 %length, {code.value(f'sub i64 {largest}, {excess}')}")

            slot = code.value("alloca i64")
            code.do(f"store i64 %k, ptr {slot}")

            def of_numbers() -> None:
                given = numbers()
                rest = code.value(f"call i64 @llvm.smax.i64(i64 {code.add(given, -1)}, i64 0)")
                ignoring = code.value(f"ashr i64 {rest}, 1")
                none = code.value(f"icmp eq i64 {given}, %length")
                first_nan = code.value(f"select i1 {none}, i64 {middle}, i64 {given}")
                ignores = code.value("icmp eq i64 %k, -2")
                code.do(f"store i64 {code.value(f'select i1 {ignores}, i64 {ignoring}, i64 {first_nan}')}, ptr {slot}")

            code.when(code.value("icmp slt i64 %k, 0"), of_numbers)
            return code.value(f"load i64, ptr {slot}")
        return code.value(f"select i1 {code.value('icmp slt i64 %k, 0')}, i64 {middle}, i64 %k")

    def select(self, keys: str, padded: str, rank: str) -> tuple[str, str]:
        """The key of a rank, and how many are less."""
        code, v, type = self.code, self.v, self.keys.type
        largest, least = self.keys.largest, -self.keys.largest - 1

        def extremes(i: str, part: Any, low: str, high: str) -> list[str]:
            below = part.load(v, keys, i, largest)
            above = below if part.mask is None else part.load(v, keys, i, least)
            return [v.choose("icmp slt", below, low, below, low), v.choose("icmp sgt", above, high, above, high)]

        ends = v.over("%length", extremes, [v.constant(largest), v.constant(least)])
        low, high = (reduced(v, name, x) for name, x in zip(("smin", "smax"), ends))

        def open(low: str, high: str, less: str, most: str) -> str:
            several = code.value(f"icmp sgt i64 {code.value(f'sub i64 {most}, {less}')}, 1")
            return code.value(f"and i1 {several}, {code.value(f'icmp slt {type} {low}, {high}')}")

        def halve(low: str, high: str, less: str, most: str) -> list[str]:
            half = code.value(f"lshr {type} {code.value(f'sub {type} {high}, {low}')}, 1")
            middle = code.value(f"add {type} {low}, {half}")
            count = self.count(keys, padded, "icmp sle", middle)
            lower = code.value(f"icmp sgt i64 {count}, {rank}")
            above = code.value(f"add {type} {middle}, 1")
            return [
                code.value(f"select i1 {lower}, {kind} {yes}, {kind} {no}")
                for kind, yes, no in (
                    (type, low, above), (type, middle, high), ("i64", less, count), ("i64", count, most)
                )
            ]  # fmt: skip

        low, _, less, _ = during(code, open, halve, [(type, low), (type, high), ("i64", "0"), ("i64", "%length")])
        bound = self.spread(low)

        def lowest(i: str, found: str) -> list[str]:
            x = v.load(keys, i)
            x = v.choose("icmp sge", x, bound, x, largest)
            return [v.choose("icmp slt", x, found, x, found)]

        (found,) = code.loop(0, padded, v.lanes, lowest, carried=[(v.type, v.constant(largest))])
        return reduced(v, "smin", found), less

    def at_rank(self, keys: str, padded: str, rank: str) -> str:
        """The position of the element of a rank."""
        code, v = self.code, self.v
        key, less = self.select(keys, padded, rank)
        bound = self.spread(key)

        def equal(i: str) -> str:
            return self.bits(v.two("icmp eq", v.load(keys, i), bound))

        def further(i: str, before: str, found: str) -> list[str]:
            here = code.value(f"call i64 @llvm.ctpop.i64(i64 {equal(i)})")
            enough = code.value(f"icmp sgt i64 {here}, {before}")
            return [
                code.value(f"select i1 {enough}, i64 {i}, i64 {code.add(i, v.lanes)}"),
                code.value(f"select i1 {enough}, i64 {before}, i64 {code.value(f'sub i64 {before}, {here}')}"),
                enough,
            ]

        i, before, _ = during(
            code, lambda i, before, found: code.value(f"xor i1 {found}, true"), further,
            [("i64", "0"), ("i64", code.value(f"sub i64 {rank}, {less}")), ("i1", "false")],
        )  # fmt: skip
        bits, _ = during(
            code, lambda bits, left: code.value(f"icmp sgt i64 {left}, 0"),
            lambda bits, left: [self.without_least(bits), code.add(left, -1)], [("i64", equal(i)), ("i64", before)],
        )  # fmt: skip
        return code.add(i, self.least_bit(bits))

    # -------------------------------------------------------------------------------------- the first ones

    def few(self, keys: str, padded: str, best: str, places: str, write: Callable[[str, str], None]) -> None:
        """The first k in order: a list, into which is put whatever comes before its last."""
        code, v, type = self.code, self.v, self.keys.type

        def insert(key: str, position: str, end: str) -> None:
            def later(j: str) -> str:
                before = code.add(j, -1)
                inside = code.value(f"icmp sgt i64 {j}, 0")
                return code.value(
                    f"and i1 {inside}, {code.value(f'icmp sgt {type} {self.key_at(best, before)}, {key}')}"
                )

            def move(j: str) -> list[str]:
                before = code.add(j, -1)
                self.put_key(self.key_at(best, before), best, j)
                at = code.value(f"load i64, ptr {code.at('i64', places, before)}")
                code.do(f"store i64 {at}, ptr {code.at('i64', places, j)}")
                return [before]

            (j,) = during(code, later, move, [("i64", end)])
            self.put_key(key, best, j)
            code.do(f"store i64 {position}, ptr {code.at('i64', places, j)}")

        code.loop(0, "%k", 1, lambda i: insert(self.key_at(keys, i), i, i))
        last = code.add("%k", -1)

        def vector(i: str) -> None:
            bound = self.spread(self.key_at(best, last))
            given = code.value(f"call i64 @llvm.smax.i64(i64 {code.value(f'sub i64 %k, {i}')}, i64 0)")
            behind = code.value(f"shl i64 -1, {given}")
            bits = code.value(f"and i64 {self.bits(v.two('icmp slt', v.load(keys, i), bound))}, {behind}")

            def one(left: str) -> list[str]:
                at = code.add(i, self.least_bit(left))
                key = self.key_at(keys, at)
                better = code.value(f"icmp slt {type} {key}, {self.key_at(best, last)}")
                code.when(better, lambda: insert(key, at, last))
                return [self.without_least(left)]

            during(code, lambda left: code.value(f"icmp ne i64 {left}, 0"), one, [("i64", bits)])

        code.loop(code.value(f"and i64 %k, {-v.lanes}"), padded, v.lanes, vector)
        code.loop(0, "%k", 1, lambda j: write(j, code.value(f"load i64, ptr {code.at('i64', places, j)}")))

    def choose(self, keys: str, padded: str, chosen: str, places: str) -> None:
        """The keys and positions of the first k, in the line's order; the keys are padded."""
        code, v, type = self.code, self.v, self.keys.type
        bound, less = self.select(keys, padded, code.add("%k", -1))
        ties = code.value(f"sub i64 %k, {less}")
        wide = self.spread(bound)
        end = code.value(f"and i64 {code.add('%k', PADDED - 1)}, {-PADDED}")
        code.loop(0, end, v.lanes, lambda i: v.store(v.constant(self.keys.largest), chosen, i))

        def vector(i: str, count: str, left: str) -> list[str]:
            bits = self.bits(v.two("icmp sle", v.load(keys, i), wide))

            def one(bits: str, count: str, left: str) -> list[str]:
                at = code.add(i, self.least_bit(bits))
                key = self.key_at(keys, at)
                tied = code.value(f"icmp eq {type} {key}, {bound}")
                used_up = code.value(f"icmp sle i64 {left}, 0")
                in_line = code.value(f"icmp slt i64 {at}, %length")
                dropped = code.value(f"and i1 {tied}, {used_up}")
                kept = code.value(f"and i1 {in_line}, {code.value(f'xor i1 {dropped}, true')}")

                def put() -> None:
                    self.put_key(key, chosen, count)
                    code.do(f"store i64 {at}, ptr {code.at('i64', places, count)}")

                code.when(kept, put)
                return [
                    self.without_least(bits), code.add(count, code.value(f"zext i1 {kept} to i64")),
                    code.value(f"sub i64 {left}, {code.value(f'zext i1 {tied} to i64')}"),
                ]  # fmt: skip

            _, count, left = during(
                code, lambda bits, *_: code.value(f"icmp ne i64 {bits}, 0"), one,
                [("i64", bits), ("i64", count), ("i64", left)],
            )  # fmt: skip
            return [count, left]

        code.loop(0, padded, v.lanes, vector, carried=[("i64", "0"), ("i64", ties)])

    # -------------------------------------------------------------------------------------- sorting

    def sort(
        self, keys: str, n: str, pairs: str, position: Callable[[str], str], write: Callable[[str, str], None]
    ) -> None:
        """write(rank, position(i)) for the n padded keys."""
        code = self.code
        either(
            code, code.value(f"icmp sle i64 {n}, {COUNTED}"),
            lambda: self.by_counting(keys, n, lambda i, rank: write(rank, position(i))),
            lambda: self.by_digits(keys, n, pairs, position, write),
        )  # fmt: skip

    def by_counting(self, keys: str, n: str, write: Callable[[str, str], None]) -> None:
        """The rank of an element: how many are less, and how many before it are equal."""
        code, v, lanes = self.code, self.v, self.v.lanes
        end = code.value(f"and i64 {code.add(n, lanes - 1)}, {-lanes}")
        numbers = "<" + ", ".join(f"{v.number} {k}" for k in range(lanes)) + ">"

        def one(i: str) -> None:
            own = self.spread(self.key_at(keys, i))
            block = code.value(f"and i64 {i}, {-lanes}")

            def counting(comparison: str) -> Callable[[str, str], list[str]]:
                def some(j: str, total: str) -> list[str]:
                    holds = v.two(comparison, v.load(keys, j), own)
                    return [v.two("sub", total, code.value(f"sext {v.mask} {holds} to {v.type}"))]

                return some

            (total,) = code.loop(0, block, lanes, counting("icmp sle"), carried=[(v.type, v.constant(0))])
            within = code.value(f"sub i64 {i}, {block}")
            lane = within if v.number == "i64" else code.value(f"trunc i64 {within} to i32")
            here = v.load(keys, block)
            before = code.value(
                f"and {v.mask} {v.two('icmp eq', here, own)}, {v.two('icmp slt', numbers, self.spread(lane))}"
            )
            holds = code.value(f"or {v.mask} {before}, {v.two('icmp slt', here, own)}")
            total = v.two("sub", total, code.value(f"sext {v.mask} {holds} to {v.type}"))
            (total,) = code.loop(
                code.add(block, lanes), end, lanes, counting("icmp slt"), carried=[(v.type, total)]
            )  # fmt: skip
            rank = reduced(v, "add", total)
            write(i, rank if v.number == "i64" else code.value(f"zext i32 {rank} to i64"))

        code.loop(0, n, 1, one)

    def by_digits(
        self, keys: str, n: str, pairs: str, position: Callable[[str], str], write: Callable[[str, str], None]
    ) -> None:
        """Digits of eight bits from the lowest on. A pair is a key and a position: one i64 where the key is short."""
        code, type, bits = self.code, self.keys.type, self.keys.bits
        pair = Vectors(code, 1, "i64") if bits == 32 else Vectors(code, 2, "i64")
        passes, top = bits // 8, -self.keys.largest - 1
        table = pairs
        zeros = Vectors(code, 16, "i32")
        code.loop(0, passes * 256, 16, lambda i: zeros.store(zeros.constant(0), table, i))
        here = code.at("i8", pairs, 8 * 256 * 4)
        there = code.at("i8", here, code.mul(n, pair.lanes * 8))

        def digit(word: str, d: int) -> str:
            low = code.value(f"lshr i64 {word}, {8 * d + (32 if bits == 32 else 0)}")
            return code.add(code.value(f"and i64 {low}, 255"), 256 * d)

        def increment(at: str) -> str:
            found = code.value(f"load i32, ptr {at}")
            code.do(f"store i32 {code.value(f'add i32 {found}, 1')}, ptr {at}")
            return found

        def make(i: str) -> None:
            key = code.value(f"xor {type} {self.key_at(keys, i)}, {top}")
            at = position(i)
            if bits == 32:
                word = code.value(f"shl i64 {code.value(f'zext i32 {key} to i64')}, 32")
                word = code.value(f"or i64 {word}, {at}")
                code.do(f"store i64 {word}, ptr {code.at('i64', here, i)}")
            else:
                word, place = key, code.at("i64", here, code.mul(i, 2))
                code.do(f"store i64 {key}, ptr {place}")
                code.do(f"store i64 {at}, ptr {code.at('i64', place, 1)}")
            for d in range(passes):
                increment(code.at("i32", table, digit(word, d)))

        code.loop(0, n, 1, make)
        source, target = code.value("alloca ptr"), code.value("alloca ptr")
        code.do(f"store ptr {here}, ptr {source}")
        code.do(f"store ptr {there}, ptr {target}")

        def word_of(base: str, i: str) -> str:
            return code.value(f"load i64, ptr {code.at('i64', base, code.mul(i, pair.lanes))}")

        def pass_(d: int) -> None:
            a, b = code.value(f"load ptr, ptr {source}"), code.value(f"load ptr, ptr {target}")
            some = code.value(f"load i32, ptr {code.at('i32', table, digit(word_of(a, '0'), d))}")
            differ = code.value(f"icmp ne i64 {code.value(f'zext i32 {some} to i64')}, {n}")

            def distribute() -> None:
                def place(i: str, total: str) -> list[str]:
                    at = code.at("i32", table, i)
                    found = code.value(f"load i32, ptr {at}")
                    code.do(f"store i32 {total}, ptr {at}")
                    return [code.value(f"add i32 {total}, {found}")]

                code.loop(256 * d, 256 * (d + 1), 1, place, carried=[("i32", "0")])

                def move(i: str) -> None:
                    to = code.value(f"zext i32 {increment(code.at('i32', table, digit(word_of(a, i), d)))} to i64")
                    x = pair.load(a, code.mul(i, pair.lanes))
                    pair.store(x, b, code.mul(to, pair.lanes))

                code.loop(0, n, 1, move)
                code.do(f"store ptr {b}, ptr {source}")
                code.do(f"store ptr {a}, ptr {target}")

            code.when(differ, distribute)

        for d in range(passes):
            pass_(d)
        done = code.value(f"load ptr, ptr {source}")

        def read(i: str) -> None:
            if bits == 32:
                write(i, code.value(f"and i64 {word_of(done, i)}, {2**32 - 1}"))
            else:
                write(i, code.value(f"load i64, ptr {code.at('i64', done, code.add(code.mul(i, 2), 1))}"))

        code.loop(0, n, 1, read)
