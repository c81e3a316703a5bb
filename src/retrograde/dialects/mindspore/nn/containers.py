"""`SequentialCell`, `CellList` and `CellDict`: cells that hold others in order or by key."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from ....learn.containers import Listed, Named, pairs
from .cell import Cell


class _Cells(Listed, Cell):
    """Cells by position."""

    _no_cell: type[Exception] = TypeError
    """What is raised for something else set in the place of a cell."""

    def set_grad(self, requires_grad: bool = True) -> None:  # type: ignore[override]
        """Set the flag `requires_grad` here and in the cells."""
        super().set_grad(requires_grad)
        for cell in self:
            cell.set_grad(requires_grad)

    def append(self, cell: Cell) -> None:
        """Add a cell at the end; raises TypeError for anything else."""
        if not isinstance(cell, Cell):
            raise TypeError(f"{type(self).__name__}: wanted a Cell, got {type(cell).__name__}")
        prefix = self._prefix()
        super().append(cell)
        if prefix:
            cell.update_parameters_name(f"{prefix}{len(self) - 1}.")

    def _prefix(self) -> str:
        """What stands before the positions in the names of the parameters that are here."""
        for key, cell in self._cells.items():
            for path, p in cell.parameters_and_names():
                if p.name.endswith(f"{key}.{path}"):
                    return p.name[: -len(f"{key}.{path}")]  # type: ignore[no-any-return]
        return ""

    def insert(self, index: int, cell: Cell) -> None:
        """Put a cell before position `index`; raises TypeError for anything else, IndexError outside."""
        if not isinstance(cell, Cell):
            raise TypeError(f"{type(self).__name__}: wanted a Cell, got {type(cell).__name__}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"{type(self).__name__}: index {index} is out of range for {len(self)} cells")
        prefix = self._prefix()
        super().insert(index, cell)
        self._rename(prefix)

    def __setitem__(self, index: Any, cell: Cell) -> None:
        if not isinstance(cell, Cell):
            raise self._no_cell(f"{type(self).__name__}: wanted a Cell, got {type(cell).__name__}")
        prefix = self._prefix()
        super().__setitem__(index, cell)
        if prefix:
            self[index].update_parameters_name(f"{prefix}{self._key(index)}.")

    def __delitem__(self, index: Any) -> None:
        prefix = self._prefix()
        keys = list(self._cells)
        super().__delitem__(index)
        if keys != [str(i) for i in range(len(keys))]:  # names of their own, which they keep
            del keys[index]
            self.__dict__["_cells"] = dict(zip(keys, self))
        self._rename(prefix)

    def _rename(self, prefix: str) -> None:
        """Name the parameters after the positions that the cells have by now."""
        if self._auto_prefix:
            for key, cell in self._cells.items():
                cell.update_parameters_name(f"{prefix}{key}.")


class SequentialCell(_Cells):
    """Cells that are applied one after the other; given one by one, as a list, or as an OrderedDict with names."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], list):
            args = tuple(args[0])
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, cell in args[0].items():
                setattr(self, name, cell)
        else:
            self.extend(args)

    def _slice(self, named: dict[str, Any]) -> SequentialCell:
        return SequentialCell(OrderedDict(named))

    def construct(self, x: Any) -> Any:
        """Apply the cells in order."""
        for cell in self._cells.values():
            x = cell(x)
        return x


class CellList(_Cells):
    """A list of cells, which registers their parameters; it cannot be called."""

    _no_cell = AttributeError

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(auto_prefix=kwargs.get("auto_prefix", True))
        self.extend(args[0] if len(args) == 1 else list(args))

    def extend(self, cells: Iterable[Cell]) -> CellList:
        """Add the cells of a list at the end; returns this one. Raises TypeError for anything else than a list."""
        if not isinstance(cells, list):
            raise TypeError(f"CellList.extend: wanted a list of cells, got {type(cells).__name__}")
        super().extend(cells)
        return self

    __iadd__ = extend

    def construct(self, *inputs: Any) -> Any:
        """A list of cells is no function: raises NotImplementedError."""
        raise NotImplementedError("CellList: a list of cells cannot be called; call the cells in it")


class CellDict(Named, Cell):
    """Cells by key, in the order in which they were put in; it cannot be called."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(auto_prefix=kwargs.get("auto_prefix", True))
        if args:
            self.update(args[0])

    def __setitem__(self, key: str, cell: Cell) -> None:
        if not isinstance(key, str):
            raise TypeError(f"CellDict: a key is a string, got {type(key).__name__}")
        if not isinstance(cell, Cell):
            raise TypeError(f"CellDict: wanted a Cell, got {type(cell).__name__}")
        if self._auto_prefix:
            cell.update_parameters_name(key + ".")
        self._cells[key] = cell

    def update(self, cells: Any) -> None:
        """Put in the cells of a dict, a CellDict or a sequence of pairs."""
        for key, cell in pairs("CellDict.update", cells):
            self[key] = cell

    def construct(self, *inputs: Any) -> Any:
        """A dict of cells is no function: raises NotImplementedError."""
        raise NotImplementedError("CellDict: a dict of cells cannot be called; call the cells in it")
