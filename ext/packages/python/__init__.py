"""PyTorch profiler traces as SQL tables, and two of them compared: tracediff, a loadable extension for SQLite.

    import tracediff
    db = tracediff.connect()
    db.execute("SELECT text FROM trace_summary('runs/control', 'runs/test')")
"""
import os
import sys
from typing import Any, Protocol

from .notebook import Page, notebook_connection

try:
    import sqlite3
except ImportError:  # a Python that was built without it
    sqlite3 = None  # type: ignore[assignment]

__all__ = ["Page", "connect", "load", "path"]
__version__ = "@VERSION@"

WAYS_OUT = ("Ways out: pip install apsw, which has its own SQLite; the Python of a Linux distribution"
            " (/usr/bin/python3); a Python built with --enable-loadable-sqlite-extensions")


class Connection(Protocol):
    """sqlite3.Connection, apsw.Connection, and others that have the same methods."""

    def enable_load_extension(self, enable: bool, /) -> Any: ...

    def load_extension(self, name: str, /) -> Any: ...


def path() -> str:
    """The file of the extension, as SQLite's load_extension() takes it."""
    ending = {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), f"tracediff.{ending}")


def _lacks() -> str:
    """Why the sqlite3 of this Python cannot load the extension; empty if it can."""
    if not sqlite3:
        return "is missing"
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        return "was built without enable_load_extension"
    if sqlite3.sqlite_version_info < (3, 38):
        return f"is of SQLite {sqlite3.sqlite_version}, and tracediff needs 3.38"
    return ""


def connect(database: Any = ":memory:") -> Any:
    """A connection to a database with the extension loaded: of sqlite3 if this Python's loads extensions, else of apsw.

    Beside their own methods it has page(sql, parameters), which a notebook shows, and frame(sql, parameters), a
    DataFrame of pandas. Ctrl-C, or a notebook's button to interrupt, stops a query: it fails with 'interrupted'.
    """
    lacks = _lacks()
    if not lacks:
        kind: Any = sqlite3.Connection
    else:
        try:
            import apsw
        except ImportError:
            raise RuntimeError(f"tracediff.connect: the sqlite3 of this Python {lacks}. {WAYS_OUT}") from None
        kind = apsw.Connection
    connection = notebook_connection(kind)(os.fspath(database))
    try:
        load(connection)
        connection.enable_load_extension(False)
    except BaseException:
        connection.close()
        raise
    # Python sees a signal only while it runs: the extension calls this at least every 10 ms or so.
    connection.set_progress_handler(lambda: False, 1000)
    return connection


def load(connection: Connection, *, nofs: bool = False) -> None:
    """Loads the extension into a connection. Loading is allowed meanwhile, and afterwards only if it was before.

    nofs: only the functions that read no file, for programs that run SQL from people they do not know.
    """
    if not hasattr(connection, "enable_load_extension"):
        if sqlite3 and isinstance(connection, sqlite3.Connection):
            raise RuntimeError(f"tracediff.load: the sqlite3 of this Python was built without enable_load_extension."
                               f" {WAYS_OUT}")
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
