"""Several runs per side: which they are, whether their steps differ, and what a gate says of them: trace_ab."""
import glob
import json
import os
import re
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from . import table

# Files of one rank that have the same steps are recordings of several runs, not of one (T8).
FILES = "SELECT file, rank, first_step, last_step FROM trace_files(?) ORDER BY rank, first_step"
COMPARED = """
    SELECT * FROM trace_ab(:control, :test)
    WHERE ranks = :control_rank AND iterations = :control_iteration AND steps = :steps"""
STEP = f"{COMPARED} AND names = 'step' AND min_effect = :limit / 100.0"
# Why runs cannot be compared, as trace_gate says it of one a side.
NOT_COMPARABLE = """
    WITH side AS (SELECT 0 AS side, :control AS path UNION ALL SELECT 1, :test),
    about AS MATERIALIZED (
      SELECT side,
             (SELECT group_concat(rank)
              FROM (SELECT DISTINCT rank FROM trace_files(path) WHERE rank NOT NULL ORDER BY rank)) AS ranks,
             (SELECT max(world_size) FROM trace_files(path)) AS world,
             (SELECT group_concat(device)
              FROM (SELECT DISTINCT device FROM trace_files(path) WHERE rank NOT NULL ORDER BY 1)) AS device
      FROM side)
    SELECT CASE
        WHEN :control_rank IS NULL AND c.ranks IS NOT t.ranks
        THEN 'other ranks: ' || c.ranks || ' in control, ' || t.ranks || ' in test'
        WHEN c.world <> t.world THEN 'other world sizes: ' || c.world || ' in control, ' || t.world || ' in test'
        WHEN c.device <> t.device THEN 'other devices: ' || c.device || ' in control, ' || t.device || ' in test' END
    FROM about AS c JOIN about AS t ON c.side = 0 AND t.side = 1"""
DIFFER = ("slower", "faster", "slower here", "faster here", "added", "deleted")
VERDICTS = {"~": "it is not known whether a step differs", "same": "a step is the same within 5 %",
            "too few": "there are too few steps"}
SHOWN = ("name", "device", "control_mean", "test_mean", "diff_pct", "ci_low", "ci_high", "verdict")
MOST = 10  # names that are shown

Row = Dict[str, Any]


def are_runs(files: Sequence[Sequence[Any]]) -> bool:
    """Whether files of one rank have the same steps, or none; they are ordered as by FILES."""
    return any(one[1] == other[1] and (one[3] is None or other[2] is None or other[2] <= one[3])
               for one, other in zip(files, files[1:]))


def of_side(db: Any, path: str) -> Optional[List[str]]:
    """The runs that a text names, if it is a pattern of directories, or its files cannot be of one run."""
    if path.lstrip().startswith("["):
        try:
            entries = json.loads(path)
        except ValueError:
            return None  # the extension says what is wrong
        several = isinstance(entries, list) and len(entries) > 1 and all(isinstance(entry, str) for entry in entries)
        return entries if several and are_runs(list(db.execute(FILES, (path,)))) else None
    pattern = os.path.expanduser(path)
    if not re.search(r"[*?[]", path) or os.path.exists(pattern):
        return None
    found = sorted(glob.glob(pattern))
    if found and all(map(os.path.isdir, found)):
        return found
    files = list(db.execute(FILES, (path,)))
    if not are_runs(files):
        return None
    folders: Dict[str, List[Any]] = {}
    for file in files:
        folders.setdefault(os.path.dirname(file[0]), []).append(file)
    if max(map(len, folders.values())) == 1 or any(map(are_runs, folders.values())):
        return sorted(file for file, *_ in files)
    return [f"{glob.escape(folder)}/{os.path.basename(path)}" for folder in sorted(folders)]


def find(db: Any, values: Row) -> bool:
    """Whether a side has several runs. If so, both sides become what trace_ab takes; a pattern of one directory becomes
    this directory."""
    sides = {side: of_side(db, values[side]) for side in ("control", "test")}
    several = any(runs and len(runs) > 1 for runs in sides.values())
    for side, runs in sides.items():
        if runs:
            values[side] = json.dumps(runs) if several else runs[0]
    return several


def percents(row: Row) -> str:
    """The difference of a row, with its interval."""
    if row["diff_pct"] is None:
        return "not known"
    if row["ci_low"] is None or row["ci_high"] is None:
        return f"{row['diff_pct']:+.1f} %"
    return f"{row['diff_pct']:+.1f} % ({row['ci_low']:+.1f} to {row['ci_high']:+.1f} %)"


def needed(row: Row) -> str:
    return f"{row['runs_needed']} runs per side would decide" if row["runs_needed"] is not None else ""


def lines(db: Any, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """The rows of trace_ab as text: the step, and the names that differ, the largest first."""
    found = [dict(zip(names, row)) for row in rows]
    for step in found:
        if step["device"] == "step":
            verdict = VERDICTS.get(step["verdict"], f"a step is {step['verdict']}")
            yield (f"{verdict}: {percents(step)}; runs of control: {step['control_n']}, of test: {step['test_n']}")
            yield from map(table.visible, filter(None, (needed(step) if step["verdict"] == "~" else "", step["note"])))
    found = [row for row in found if row["device"] != "step"]
    differ = [row for row in found if row["verdict"] in DIFFER]
    for row in differ[:MOST]:
        row["name"], = db.execute("SELECT trace_short_name(?)", (row["name"],)).fetchone()
    yield from table.box(SHOWN, [[round(row[name], 1) if isinstance(row[name], float) else row[name] for name in SHOWN]
                                 for row in differ[:MOST]])
    if differ[MOST:]:
        yield f"{len(differ[MOST:])} more names differ: --json has them"
    if len(found) > len(differ):
        yield f"{len(found) - len(differ)} names do not differ, or that is not known"


def decide(step: Row, limit: float) -> Tuple[str, str]:
    """What a gate says by the row of the step, and why that is not known."""
    if step["verdict"] == "slower" and round(step["diff_pct"], 6) > limit:
        return "fail", ""
    if step["gate"] == "not slower" and round(step["ci_high"], 6) <= limit:
        return "pass", ""
    return "not known", needed(step) or step["note"] or "so many runs cannot tell"
