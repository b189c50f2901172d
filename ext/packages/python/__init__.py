"""PyTorch profiler traces as SQL tables, and two of them compared: tracediff, a loadable extension for SQLite.

    import sqlite3, tracediff
    db = sqlite3.connect(":memory:")
    tracediff.load(db)
    db.execute("SELECT text FROM trace_summary('runs/control', 'runs/test')")
"""
import os
import sqlite3
from typing import Any, Protocol

__all__ = ["load", "path"]
__version__ = "@VERSION@"


class Connection(Protocol):
    """sqlite3.Connection, apsw.Connection, and others that have the same methods."""

    def enable_load_extension(self, enable: bool, /) -> Any: ...

    def load_extension(self, name: str, /) -> Any: ...


def path() -> str:
    """The file of the extension, as SQLite's load_extension() takes it."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "tracediff.so")


def load(connection: Connection, *, nofs: bool = False) -> None:
    """Loads the extension into a connection. Loading is allowed meanwhile, and afterwards only if it was before.

    nofs: only the functions that read no file, for programs that run SQL from people they do not know.
    """
    if not hasattr(connection, "enable_load_extension"):
        if isinstance(connection, sqlite3.Connection):
            raise RuntimeError(
                "tracediff.load: the sqlite3 of this Python was built without enable_load_extension. Ways out: a"
                " connection"
                " of apsw (pip install apsw), which has its own SQLite; the Python of a Linux distribution"
                " (/usr/bin/python3);"
                " a Python built with --enable-loadable-sqlite-extensions")
        raise TypeError(f"tracediff.load: expected a connection of sqlite3 or apsw, not {type(connection).__name__}")
    try:
        _load(connection, nofs)
        return
    except Exception as error:
        if "not authorized" not in str(error):
            raise
    connection.enable_load_extension(True)
    try:
        _load(connection, nofs)
    finally:
        connection.enable_load_extension(False)


def _load(connection: Any, nofs: bool) -> None:
    if not nofs:
        connection.load_extension(path())
        return
    entry = "sqlite3_tracediff_nofs_init"
    try:
        connection.load_extension(path(), entrypoint=entry)
    except TypeError:  # sqlite3 before Python 3.12
        connection.execute("SELECT load_extension(?, ?)", (path(), entry)).fetchall()
