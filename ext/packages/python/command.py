"""The program tracediff: why a step of one trace is slower than a step of another."""
import difflib
import os
import pathlib
import re
import signal
import sys
import tempfile
import webbrowser
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import __version__, connect, runs, table
from .notebook import ask

HELP = """\
usage: tracediff CONTROL TEST [OPTION ...]
       tracediff --memory CONTROL TEST [OPTION ...]
       tracediff hang DUMPS    which rank holds up a job: flight recorder dumps
       tracediff shell [DATABASE]    for agents: tracediff mcp [DIRECTORY ...]

Explains why a step of the trace TEST is slower or faster than one of CONTROL.
A trace is a directory with one file per rank, a file, or a pattern in quotes.
If the patterns match several runs per side, trace_ab compares them.

  --memory CONTROL TEST  why TEST needs more memory, from allocator snapshots
  --html FILE.html       also write the report; with --memory alone, its chart
  --open                 show this page in a browser, a new file without --html
  --gate PERCENT         exit with 1 if steps are longer by more than PERCENT
  --sql STATEMENT        print its rows instead; :control and :test are bound
  --json, --csv          print rows with all their columns
  --rank RANK            a number, a JSON array, all, or job: all ranks as one
  --iteration STEP       a number, a JSON array, all, steady, first or a phase
  --control-rank, --control-iteration, --test-rank, --test-iteration: one side
  --clock CLOCK          compare the steps of the device or of the host
  --steps PATTERN        which events are steps: auto, profiler, a LIKE pattern
  --patterns DIRECTORY   add your own patterns; --no-advice, --version, --help

Exit status: 0; with --gate, 1: slower, 2: not known; 2: an error.
tracediff --sql "SELECT * FROM tracediff_help" lists all functions.
"""

VALUES = ("--html", "--gate", "--sql", "--rank", "--iteration", "--control-rank", "--test-rank",
          "--control-iteration", "--test-iteration", "--clock", "--steps", "--patterns")
FLAGS = ("--open", "--json", "--csv", "--no-advice")
OTHERS = ("--memory", "--version", "--help")

CHOSEN = ("control_rank", "test_rank", "control_iteration", "test_iteration", "clock", "steps")


def call(function: str, columns: str = "*", more: Sequence[str] = ()) -> str:
    """A query of two traces with the arguments that are chosen; one that is NULL has its default."""
    terms = " AND ".join(f"f.{name} = :{name}" for name in [*CHOSEN, *more])
    return f"SELECT {columns} FROM {function}(:control, :test) AS f WHERE {terms}"


SUMMARY = call("trace_summary")
REPORT = call("trace_diff_report", "html", ["control_memory", "test_memory"])
# Of the rank and device with the highest peak, as memory_summary.
MEMORY_PAGE = """
    SELECT visualize_memory_diff(phase, op, control_bytes, test_bytes, 'Memory at the peak, from control to test')
    FROM (SELECT *, rank() OVER (ORDER BY size DESC, rank, device) AS nth
          FROM (SELECT *, max(sum(control_bytes) OVER of_device, sum(test_bytes) OVER of_device) AS size
                FROM memory_diff(:control_memory, :test_memory, 'phase,op', nullif(:control_rank, 'job'))
                WHERE phase <> 'cached and rounded'
                WINDOW of_device AS (PARTITION BY rank, device)))
    WHERE nth = 1"""
MEMORY = "SELECT * FROM memory_summary(:control_memory, :test_memory, nullif(:control_rank, 'job'))"

GATE = call("trace_gate", more=["limit_percent"])
OUTCOMES = ("pass", "fail", "not known")  # each at its exit status


class Wrong(Exception):
    """What is printed in a line."""


class Bound(Dict[str, Any]):
    """The values of a statement's parameters."""

    def __missing__(self, name: str) -> Any:
        what = {"control": "no CONTROL was given", "test": "no TEST was given"}.get(
            name, f"the names are {', '.join(f':{known}' for known in self)}")
        raise Wrong(f"--sql: the statement has :{name}, but {what}")


def like(word: str, words: Sequence[str]) -> str:
    found = difflib.get_close_matches(word, words, 1)
    return f"; did you mean '{found[0]}'?" if found else "; see tracediff --help"


def parse(words: List[str]) -> Tuple[List[str], Dict[str, Any]]:
    """The traces and the options that are given."""
    paths: List[str] = []
    given: Dict[str, Any] = {}
    words = words[:]

    def value_of(option: str) -> str:
        if not words or words[0].partition("=")[0] in (*VALUES, *FLAGS, *OTHERS, "--"):
            raise Wrong(f"{option} needs a value; see tracediff --help")
        return words.pop(0)

    while words:
        word = words.pop(0)
        if word == "--":
            paths += words
            break
        if not word.startswith("-") or word == "-":
            paths.append(word)
            continue
        option, equals, value = word.partition("=")
        if option == "-h":
            option = "--help"
        if option not in VALUES + FLAGS + OTHERS:
            raise Wrong(f"unknown option '{option}'{like(option, VALUES + FLAGS + OTHERS)}")
        if option in given:
            raise Wrong(f"{option} is given twice")
        if option in VALUES:
            given[option] = value if equals else value_of(option)
        elif equals:
            raise Wrong(f"{option} takes no value after =")
        elif option == "--memory":
            given[option] = [value_of(option), value_of(option)]
        else:
            given[option] = True
    return paths, given


def percent_of(text: str) -> float:
    if not re.fullmatch(r"(\d+\.?\d*|\.\d+) ?%?", text, re.ASCII):
        raise Wrong(f"--gate: '{text}' is not a percentage of 0 or more, such as 3%")
    return float(text.rstrip(" %"))


def check(paths: List[str], given: Dict[str, Any]) -> None:
    """Refuses what does not fit together."""
    if len(paths) > 2:
        raise Wrong(f"expected CONTROL and TEST, got {len(paths)} traces: patterns such as 'a/*.json' need quotes")
    if len(paths) < 2 and "--sql" not in given:
        for option in ("--html", "--open", "--gate"):
            if option in given and (option == "--gate" or "--memory" not in given):
                raise Wrong(f"{option} needs CONTROL and TEST")
        if paths or "--memory" not in given:
            raise Wrong(f"expected CONTROL and TEST, got {'one trace' if paths else 'none'}; see tracediff --help")
    for one, other in (("--json", "--csv"), ("--sql", "--html"), ("--sql", "--open"), ("--sql", "--gate")):
        if one in given and other in given:
            raise Wrong(f"{one} and {other} cannot be given together")
    if len(paths) == 2 and "--memory" in given and "--sql" not in given and ("--json" in given or "--csv" in given):
        raise Wrong("--json and --csv print one table: give either traces or --memory")
    for option in ("--rank", "--iteration"):
        for side in ("--control", "--test"):
            if option in given and f"{side}-{option[2:]}" in given:
                raise Wrong(f"{option} and {side}-{option[2:]} cannot be given together")
    if "--html" in given and not given["--html"].lower().endswith((".html", ".htm")):
        raise Wrong(f"--html: '{given['--html']}' must end with .html; nothing was written")
    for path in [*paths, *given.get("--memory", ())]:
        try:
            path.encode()
        except UnicodeEncodeError:
            raise Wrong(f"{path!a} is not UTF-8: give it another name, or a pattern") from None


def bound(paths: List[str], given: Dict[str, Any]) -> Bound:
    values = Bound(zip(("control", "test"), paths))
    for name in ("rank", "iteration"):
        for side in ("control", "test"):
            values[f"{side}_{name}"] = given.get(f"--{side}-{name}", given.get(f"--{name}"))
    values["clock"], values["steps"] = given.get("--clock"), given.get("--steps")
    values["control_memory"], values["test_memory"] = given.get("--memory", (None, None))
    return values


def check_runs(given: Dict[str, Any], values: Bound, percent: Optional[float]) -> None:
    """Refuses what does not fit to several runs per side."""
    for option in ("--html", "--open", "--clock"):
        if option in given:
            raise Wrong(f"{option} needs one run per side: name one of each")
    for name in ("rank", "iteration"):
        if values[f"control_{name}"] != values[f"test_{name}"]:
            raise Wrong(f"--control-{name} and --test-{name} need one run per side; of several, give --{name}")
    if percent is not None and percent > 100:
        raise Wrong("--gate: of several runs, the limit is 100 % at most")


def gate_runs(db: Any, values: Bound, percent: float) -> Tuple[int, str]:
    """The same of several runs per side."""
    reason = next((reason for reason, in db.execute(runs.NOT_COMPARABLE, values)), None)
    names, rows = ask(db, runs.STEP, Bound(values, limit=percent))
    step = next((dict(zip(names, row)) for row in rows), None)
    if reason or step is None:
        raise Wrong(f"--gate: cannot be compared: {reason or 'a side has no steps'}")
    outcome, why = runs.decide(step, percent)
    return OUTCOMES.index(outcome), (f"gate: {outcome}: step {runs.percents(step)}, limit {percent:+g} %"
                                     f"{why and f': {why}'}")


def gate(db: Any, values: Bound, percent: float) -> Tuple[int, str]:
    """The exit status of --gate, and why."""
    names, rows = ask(db, GATE, Bound(values, limit_percent=percent))
    found = dict(zip(names, next(rows)))
    if found["mean_percent"] is None:
        raise Wrong(f"--gate: cannot be compared: {found['reason']}")
    why = f": {found['reason']}" if found["reason"] else ""
    return found["status"], (f"gate: {found['outcome']}: mean {found['mean_percent']:+.1f} %, median"
                             f" {found['median_percent']:+.1f} %, limit {percent:+g} %{why}")


def write(html: str, path: Optional[str]) -> str:
    if path is None:
        handle, path = tempfile.mkstemp(prefix="tracediff-", suffix=".html")
        os.close(handle)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(html)
    return path


def show(lines: Any) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")


def hang(words: List[str]) -> int:
    """Which rank holds up a job, by a directory of dumps."""
    paths, given = parse(words)
    other = next((option for option in given if option not in ("--json", "--csv")), None)
    if other or len(paths) != 1:
        raise Wrong(f"hang: {f'{other} is not for this' if other else f'expected one directory, got {len(paths)}'}"
                    "; see tracediff --help")
    names, found = ask(connect(), "SELECT * FROM hang_summary(?)", paths)
    rows = list(found)
    mode = next((mode for mode in ("json", "csv") if f"--{mode}" in given), None)
    show(table.MODES[mode](names, rows) if mode else [table.visible(row[names.index("words")]) for row in rows])
    return 0


def run(words: List[str]) -> int:
    """Does what the words of the command line ask for; returns the exit status."""
    if words[:1] == ["hang"]:
        return hang(words[1:])
    if words[:1] == ["shell"]:
        from .shell import shell
        return shell(words[1:])
    if words[:1] == ["mcp"]:
        from .server import mcp
        return mcp(words[1:])
    paths, given = parse(words)
    if "--help" in given or "--version" in given:
        show([HELP.rstrip("\n") if "--help" in given else f"tracediff {__version__}"])
        return 0
    check(paths, given)
    percent = percent_of(given["--gate"]) if "--gate" in given else None
    values = bound(paths, given)
    mode = next((mode for mode in ("json", "csv") if f"--{mode}" in given), None)
    db = connect()
    if "--sql" in given:
        show(table.MODES[mode or "table"](*ask(db, given["--sql"], values)))
        return 0
    if "--patterns" in given:
        take_patterns(db, given["--patterns"])
    several = bool(paths) and runs.find(db, values)
    if several:
        check_runs(given, values, percent)
    answer = runs.COMPARED if several else SUMMARY
    html = db.page(REPORT if paths else MEMORY_PAGE, values) if "--html" in given or "--open" in given else None
    for place, sql in enumerate(([answer] if paths else []) + ([MEMORY] if "--memory" in given else [])):
        names, found = ask(db, sql, values)
        rows = list(found)
        if sql == runs.COMPARED:
            show(table.MODES[mode](names, rows) if mode else runs.lines(db, names, rows))
            continue
        texts = [row[names.index("text")] for row in rows] if "--no-advice" in given else advised(names, rows)
        show(table.MODES[mode](names, rows) if mode else [""] * place + list(map(table.visible, texts)))
    if html is not None:
        written = write(html, given.get("--html"))
        if "--open" in given and not webbrowser.open(pathlib.Path(written).resolve().as_uri()):
            raise Wrong(f"--open: there is no browser that can be started; the page is in '{written}'")
    if "--patterns" in given and paths and not several:
        failed = ask(db, call("trace_diagnoses", "f.pattern, f.sentence") + " AND f.causes IS NULL", values)[1]
        for pattern, sentence in failed:
            print(f"tracediff: the pattern {pattern} failed: {sentence}", file=sys.stderr)
    if percent is None:
        return 0
    status, said = gate_runs(db, values, percent) if several else gate(db, values, percent)
    if not mode:
        show([said])
    elif OUTCOMES[status] == "not known":  # as an error is said
        print(f"tracediff: {said}", file=sys.stderr)
    return status


def take_patterns(db: Any, folder: str) -> None:
    """Makes the files of a directory rows of temp.patterns, which the answer asks."""
    found = [pathlib.Path(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".sql")]
    if not found:
        raise Wrong(f"--patterns: there is no *.sql in '{folder}'")
    list(ask(db, "CREATE TEMP TABLE patterns(name TEXT, head TEXT, sql TEXT)")[1])
    for path in found:
        list(ask(db, "INSERT INTO temp.patterns VALUES (?, NULL, ?)",
                 (path.name[:-len(".sql")], path.read_text(encoding="utf-8")))[1])


def advised(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> List[str]:
    """The lines of an answer, with its advice below each diagnosis."""
    lines = []
    for row in rows:
        found = dict(zip(names, row))
        lines.append(found["text"])
        if found.get("advice"):
            lines.append(f"{'':20}-> {found['advice']}")
    return lines


def said_by(error: BaseException) -> str:
    """An error in one line."""
    if isinstance(error, OSError) and error.strerror:
        text = f"cannot write '{error.filename}': {error.strerror}" if error.filename else error.strerror
    else:
        text = str(error) or type(error).__name__
        if text.startswith(f"{type(error).__name__}: "):  # as older versions of apsw begin
            text = text.split(": ", 1)[1]
    return table.visible(" ".join(text.split("\n")))


def main(words: List[str]) -> int:
    """run(), and 2 after an error, which is printed in a line."""
    try:
        status = run(words)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:  # as the shell has it
        return 130
    except Exception as error:
        try:
            sys.stdout.flush()
        except (OSError, ValueError):
            pass  # the error may be that nobody reads it
        print(f"tracediff: {said_by(error)}", file=sys.stderr)
        return 2


def program() -> None:
    # Ctrl-C and a reader that has gone end it at once and without words, as other programs.
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # it was closed
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))
        getattr(sys, name).reconfigure(encoding="utf-8", errors="backslashreplace")
    status = main([os.fsencode(word).decode("utf-8", "surrogateescape") for word in sys.argv[1:]])
    try:
        sys.stdout.flush()
    except OSError:  # Python would try again, and complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)
