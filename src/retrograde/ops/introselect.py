"""Which of several equal elements a partial sort picks: the order that the C++ standard library's algorithms leave.

Frameworks written in C++ select with std::nth_element, std::partial_sort and std::sort, which do not keep the order of
equal elements but always give the same result for the same input. Rows with ties go through the same steps here
(introspective selection and sorting after Musser, 1997; the quickselect of Numerical Recipes), on dense ranks.
"""

from __future__ import annotations

MOST = 1 << 13
"""Elements up to which rows with ties go through Python (some 40 ms); beyond, equal ones stay in order."""

SHORT = 16
"""Up to so many elements are sorted by insertion."""


SELECTED = 3
"""Up to so many, selecting the first few sorts them all by insertion."""


class _Row:
    """A row of ranks with the positions they came from, permuted together; `a` compares before `b` if smaller."""

    __slots__ = ("keys", "at")

    def __init__(self, keys: list[int]) -> None:
        self.keys, self.at = keys, list(range(len(keys)))

    def swap(self, i: int, j: int) -> None:
        k, p = self.keys, self.at
        k[i], k[j] = k[j], k[i]
        p[i], p[j] = p[j], p[i]

    def insertion_sort(self, first: int, last: int) -> None:
        k, p = self.keys, self.at
        for i in range(first + 1, last):
            key, place, j = k[i], p[i], i
            if key < k[first]:
                j = first
                k[first + 1 : i + 1], p[first + 1 : i + 1] = k[first:i], p[first:i]
            else:
                while key < k[j - 1]:
                    k[j], p[j] = k[j - 1], p[j - 1]
                    j -= 1
            k[j], p[j] = key, place

    def partition(self, first: int, last: int) -> int:
        """Split around the median of three; returns where the upper part starts."""
        k = self.keys
        a, b, c = first + 1, first + (last - first) // 2, last - 1
        if k[a] < k[b]:
            median = b if k[b] < k[c] else c if k[a] < k[c] else a
        else:
            median = a if k[a] < k[c] else c if k[b] < k[c] else b
        self.swap(first, median)
        pivot, i, j = k[first], first + 1, last
        while True:
            while k[i] < pivot:
                i += 1
            j -= 1
            while pivot < k[j]:
                j -= 1
            if i >= j:
                return i
            self.swap(i, j)
            i += 1

    def nth_element(self, nth: int) -> None:
        first, last = 0, len(self.keys)
        depth = 2 * (last.bit_length() - 1)
        while last - first > SELECTED:
            if depth == 0:
                self.heap_select(first, nth + 1, last)
                self.swap(first, nth)
                return
            depth -= 1
            cut = self.partition(first, last)
            if cut <= nth:
                first = cut
            else:
                last = cut
        self.insertion_sort(first, last)

    def sort(self, first: int, last: int) -> None:
        if last - first > 1:
            self._sort_loop(first, last, 2 * ((last - first).bit_length() - 1))
            self.insertion_sort(first, last)

    def _sort_loop(self, first: int, last: int, depth: int) -> None:
        while last - first > SHORT:
            if depth == 0:
                self.partial_sort(first, last, last)
                return
            depth -= 1
            cut = self.partition(first, last)
            self._sort_loop(cut, last, depth)
            last = cut

    def partial_sort(self, first: int, middle: int, last: int) -> None:
        self.heap_select(first, middle, last)
        while middle - first > 1:
            middle -= 1
            self._pop(first, middle, middle)

    def heap_select(self, first: int, middle: int, last: int) -> None:
        k, p = self.keys, self.at
        n = middle - first
        for parent in range((n - 2) // 2, -1, -1) if n > 1 else ():
            self._sift(first, parent, n, k[first + parent], p[first + parent])
        for i in range(middle, last):
            if k[i] < k[first]:
                self._pop(first, middle, i)

    def _pop(self, first: int, last: int, result: int) -> None:
        """The top of the heap goes to `result`, and what was there into the heap."""
        k, p = self.keys, self.at
        key, place = k[result], p[result]
        k[result], p[result] = k[first], p[first]
        self._sift(first, 0, last - first, key, place)

    def _sift(self, first: int, hole: int, n: int, key: int, place: int) -> None:
        k, p = self.keys, self.at
        top = child = hole
        while child < (n - 1) // 2:
            child = 2 * (child + 1)
            if k[first + child] < k[first + child - 1]:
                child -= 1
            k[first + hole], p[first + hole] = k[first + child], p[first + child]
            hole = child
        if n % 2 == 0 and child == (n - 2) // 2:
            child = 2 * child + 1
            k[first + hole], p[first + hole] = k[first + child], p[first + child]
            hole = child
        parent = (hole - 1) // 2
        while hole > top and k[first + parent] < key:
            k[first + hole], p[first + hole] = k[first + parent], p[first + parent]
            hole, parent = parent, (parent - 1) // 2
        k[first + hole], p[first + hole] = key, place

    def quickselect(self, nth: int) -> None:
        """Numerical Recipes' selection of the nth smallest."""
        k = self.keys
        low, high = 0, len(k) - 1
        while high > low + 1:
            self.swap((low + high) // 2, low + 1)
            for a, b in ((low + 1, high), (low, high), (low + 1, low)):
                if k[a] > k[b]:
                    self.swap(a, b)
            i, j, pivot = low + 1, high, k[low]
            while True:
                i += 1
                while k[i] < pivot:
                    i += 1
                j -= 1
                while k[j] > pivot:
                    j -= 1
                if j < i:
                    break
                self.swap(i, j)
            self.swap(low, j)
            if j <= nth:
                low = i
            if j >= nth:
                high = j - 1
        if high == low + 1 and k[low] > k[high]:
            self.swap(low, high)


def arranged(ranks: list[int], what: str, k: int) -> list[int]:
    """The positions of a row, given by ranks, as C++'s algorithms leave them.

    what: "sort"; "top", the first k in order; "kth", where place k - 1 holds what quickselect finds.
    """
    row, n = _Row(ranks), len(ranks)
    if what == "sort":
        row.sort(0, n)
    elif what == "kth":
        row.quickselect(k - 1)
    elif k * 64 <= n:
        row.partial_sort(0, k, n)
    elif k:
        row.nth_element(k - 1)
        row.sort(0, k - 1)
    return row.at
