"""tracediff shell: a shell for SQL with the extension loaded."""
import contextlib
import re
import signal
import sys
from typing import Any, Iterator, List

from . import __version__, connect, table
from .command import Wrong, said_by
from .notebook import ask

try:
    from sqlite3 import complete_statement
except ImportError:
    from apsw import complete as complete_statement  # type: ignore[no-redef]

HELP = """\
.mode table, .mode json, .mode csv                  how rows are printed
.quit                                               also Ctrl-D; Ctrl-C stops a query
SELECT * FROM tracediff_help;                       which function answers which question
SELECT text FROM tracediff_help('trace_summary');   the help page of one function"""


def statements(text: str) -> Iterator[str]:
    """The statements of a text that are complete, and then what is left of it."""
    begin = end = 0
    while (end := text.find(";", end) + 1) > 0:
        if complete_statement(text[begin:end]):
            yield text[begin:end]
            begin = end
    yield text[begin:]


class Shell:
    def __init__(self, db: Any) -> None:
        self.db, self.mode, self.done = db, "table", False
        self.begun = ""  # of a statement, what has been read of it

    def command(self, line: str) -> None:
        words = line.split()
        if words in ([".quit"], [".exit"]):
            self.done = True
        elif words == [".help"]:
            print(HELP)
        elif words[0] == ".mode" and words[1:] in [[mode] for mode in table.MODES]:
            self.mode = words[1]
        else:
            raise Wrong(f"unknown command '{line}': .help lists them")

    def run(self, statement: str) -> None:
        names, rows = ask(self.db, statement)
        if names:
            for line in table.MODES[self.mode](names, rows):
                print(line)
        sys.stdout.flush()

    def take(self, line: str) -> None:
        """Runs a line, and keeps what it begins."""
        text, self.begun = self.begun + line, ""
        if line.startswith(".") and line.strip() == text.strip():
            self.command(line.strip())
            return
        *whole, rest = statements(text)
        for statement in whole:
            self.run(statement)
        self.begun = rest if re.sub("--[^\n]*", "", rest).strip() else ""

    def talk(self) -> None:
        """Reads from a terminal; after an error it goes on."""
        while not self.done:
            try:
                self.take(input("      ...> " if self.begun else "tracediff> ") + "\n")
            except EOFError:
                print()
                self.done = True
            except (KeyboardInterrupt, Exception) as error:
                self.begun = ""
                stopped = isinstance(error, KeyboardInterrupt) or "interrupted" in str(error)
                print("\ninterrupted: .quit ends the shell" if stopped else said_by(error), file=sys.stderr)

    def read(self) -> None:
        """Reads a file or a pipe; an error ends it."""
        for line in sys.stdin:
            self.take(line)
            if self.done:
                return
        self.run(self.begun)


def shell(words: List[str]) -> int:
    if words[:1] and words[0].startswith("-"):
        raise Wrong(f"shell: unknown option '{words[0]}'; see tracediff --help")
    if len(words) > 1:
        raise Wrong(f"shell: expected one DATABASE, got {len(words)}")
    with contextlib.closing(connect(*words)) as db:
        if hasattr(db, "isolation_level"):
            db.isolation_level = None  # sqlite3 would begin transactions, and not end them
        new = Shell(db)
        if not sys.stdin.isatty():
            new.read()
            return 0
        try:
            import readline  # noqa: F401: input() then has a history
        except ImportError:
            pass
        signal.signal(signal.SIGINT, signal.default_int_handler)
        version, = db.execute("SELECT sqlite_version()").fetchone()
        print(f"tracediff {__version__}, SQLite {version}: .help, .quit")
        new.talk()
    return 0
