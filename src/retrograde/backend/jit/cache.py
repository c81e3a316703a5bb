"""The cache of machine code on disk: a folder of the user's own, each entry signed.

What lies here is run, so nothing is taken on trust. Folder and files count only where they belong to the user and nobody
else may read or write them, which is asked of what was opened (no other file can take its place in between); links,
FIFOs and devices are refused. An entry carries an HMAC over its name, the key of what it was made from and its code, with a
secret that lies beside it: a file that somebody else wrote, another function's, or a damaged one is not code.

Whatever is wrong, there is no entry, and the caller translates anew. On Windows, where a mode says nothing, the folder lies
in the user's own profile and the signature is what is looked at.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator

LARGEST = 1 << 22
"""Bytes of an entry: the largest that there is has a hundredth of it."""
ROOM = 1 << 24
"""Bytes of all entries; of more, those that were used longest ago go."""

_PARTS = 32

_SECRET = ".secret"
_ENTRY, _PART = ".code", ".part"
_MAC = 32  # bytes
_POSIX = hasattr(os, "O_NOFOLLOW") and hasattr(os, "geteuid") and os.open in os.supports_dir_fd
# O_NONBLOCK: opening a FIFO that nobody writes to returns.
_SAFE = sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))


def read(name: str, key: str) -> bytes | None:
    """The code that `write` has put there for a function and what it is made from; None where there is none to be trusted."""
    with contextlib.suppress(OSError), _folder() as folder:
        secret, entry = folder.secret(), folder.content(_file(name, key), _MAC + LARGEST)
        if secret and entry and _same(entry[:_MAC], _signature(secret, name, key, entry[_MAC:])):
            return entry[_MAC:]
    return None


def write(name: str, key: str, code: bytes) -> None:
    """Keep the code of a function for `read`; nothing where there is no folder for it, or no room."""
    if len(code) > LARGEST:
        return
    with contextlib.suppress(OSError), _folder(make=True) as folder:
        secret = folder.secret(make=True)
        if secret:
            folder.put(_file(name, key), _signature(secret, name, key, code) + code)
            if _looked_through(len(code)):
                folder.shrink()


_more = 0
"""Bytes that this process has written since the entries were looked through."""


def _looked_through(size: int) -> bool:
    """Whether the entries are looked through after a write: each takes 10 µs, so it is done for some bytes together, and, since
    there are processes that write few, now and then."""
    global _more
    _more += size
    if _more < ROOM // _PARTS and os.urandom(1)[0] >= 256 // _PARTS:
        return False
    _more = 0
    return True


def _file(name: str, key: str) -> str:
    return f"{name}-{key[:32]}{_ENTRY}"


def _signature(secret: bytes, name: str, key: str, code: bytes) -> bytes:
    import hmac  # 2 ms, for programs that come to generated code only

    return hmac.digest(secret, b"\0".join([name.encode(), key.encode(), code]), "sha256")


def _same(x: bytes, y: bytes) -> bool:
    import hmac

    return hmac.compare_digest(x, y)


def path() -> str:
    """Where the folder is, or would be."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        base = base if os.path.isabs(base) else os.path.join(home, ".cache")
    return os.path.join(base, "retrograde")


def _private(found: os.stat_result) -> bool:
    return not _POSIX or (found.st_uid == os.geteuid() and not found.st_mode & 0o077)


@contextlib.contextmanager
def _folder(make: bool = False) -> Iterator[_Folder]:
    """The folder, open; raises OSError where there is none that only this user can read and write."""
    place = path()
    if not os.path.isabs(place):  # of a user without a home
        raise FileNotFoundError(place)
    if make:
        above = os.path.dirname(place)
        os.makedirs(above, mode=0o700, exist_ok=True)
        if _POSIX and os.geteuid() == 0 != os.stat(above).st_uid:
            raise PermissionError(above)  # under sudo: the folder would stay root's, and its user without a cache
        with contextlib.suppress(FileExistsError):
            os.mkdir(place, 0o700)
    if not _POSIX:
        if not stat.S_ISDIR(os.lstat(place).st_mode):
            raise NotADirectoryError(place)
        yield _Folder(place, None)
        return
    handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | _SAFE)
    try:
        found = os.fstat(handle)
        if found.st_uid == os.geteuid() and found.st_mode & 0o055 and not found.st_mode & 0o022:
            os.fchmod(handle, 0o700)  # earlier versions left it open for reading; nobody else has written there
            found = os.fstat(handle)
        if not _private(found):
            raise PermissionError(place)
        yield _Folder(place, handle)
    finally:
        os.close(handle)


class _Folder:
    """A folder by its descriptor, so that it stays the one that was looked at; by its path where the system has no such
    calls."""

    def __init__(self, path: str, handle: int | None) -> None:
        self.path, self.handle = path, handle

    def at(self, name: str) -> str:
        """What the system's calls are given for a file of the folder, beside `dir_fd=self.handle`."""
        return name if self.handle is not None else os.path.join(self.path, name)

    def content(self, name: str, most: int) -> bytes | None:
        """What a file holds; None where there is none, it is larger, no plain file or not this user's alone.

        Its time becomes that of its last use.
        """
        at = self.at(name)
        try:
            if not stat.S_ISREG(os.lstat(at, dir_fd=self.handle).st_mode):  # Windows has no O_NOFOLLOW
                return None
            handle = os.open(at, os.O_RDONLY | _SAFE, dir_fd=self.handle)
        except OSError:
            return None
        with open(handle, "rb") as file:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode) or found.st_size > most or not _private(found):
                return None
            data = file.read(most + 1)
            with contextlib.suppress(OSError):
                os.utime(handle if os.utime in os.supports_fd else at)
        return data if len(data) <= most else None

    def put(self, name: str, data: bytes, *, anew: bool = False) -> None:
        """Write a file that appears at once, so that no reader sees half of it; anew: only where there is none."""
        part = f"{name}.{os.urandom(8).hex()}{_PART}"
        handle = os.open(self.at(part), os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, 0o600, dir_fd=self.handle)
        try:
            with open(handle, "wb") as file:
                file.write(data)
            move = os.link if anew else os.replace
            move(self.at(part), self.at(name), src_dir_fd=self.handle, dst_dir_fd=self.handle)
        finally:
            self.remove(part)  # its first name, or what did not fit

    def remove(self, name: str) -> None:
        """Take a file away, if it is there."""
        with contextlib.suppress(OSError):
            os.unlink(self.at(name), dir_fd=self.handle)

    def secret(self, make: bool = False) -> bytes | None:
        """What entries are signed with; made where there is none, or a damaged one."""
        for _ in range(2):
            found = self.content(_SECRET, _MAC)
            if found is not None and len(found) == _MAC:
                return found
            if not make:
                break
            self.remove(_SECRET)
            with contextlib.suppress(FileExistsError):  # another process was first
                self.put(_SECRET, os.urandom(_MAC), anew=True)
        return None

    def shrink(self) -> None:
        """Remove the entries that were used longest ago, and what broken-off writes have left, beyond `ROOM`."""
        found = []
        with os.scandir(self.path if self.handle is None else self.handle) as files:
            for file in files:
                if file.name.endswith((_ENTRY, _PART)):
                    with contextlib.suppress(OSError):  # gone in between
                        state = file.stat(follow_symlinks=False)
                        found.append((state.st_mtime, file.name, state.st_size))
        left = sum(size for _, _, size in found) - ROOM
        for _, name, size in sorted(found):
            if left <= 0:
                break
            self.remove(name)
            left -= size
