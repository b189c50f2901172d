"""Rows as text: a table for people, JSON and CSV for programs."""
import csv
import io
import itertools
import json
import math
import unicodedata
from typing import Any, Iterable, Iterator, List, Sequence

WIDEST = 60  # cells of a terminal: a longer value goes on in the next line

# What a name from a trace must not do to a terminal: control it, or change the direction of what is shown.
DIRECTIONS = [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
CONTROLS = {code: f"\\x{code:02x}" for code in [*range(32), *range(127, 160)] if chr(code) not in "\n\t"}
CONTROLS.update((code, f"\\u{code:04x}") for code in DIRECTIONS)
IN_JSON = {code: f"\\u{code:04x}" for code in [*range(127, 160), *DIRECTIONS]}


def visible(text: str) -> str:
    return text.translate(CONTROLS)


def shown(value: Any) -> str:
    """A value as SQLite's shell shows it."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(value, float):
        text = f"{value:.15g}"
        return text if "e" in text or "." in text or math.isinf(value) else f"{text}.0"
    return visible(str(value)).replace("\t", "    ")


def _cells(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def width(text: str) -> int:
    return len(text) if text.isascii() else sum(map(_cells, text))


def _lines(text: str) -> Iterator[str]:
    """The lines of a value in a table."""
    for line in text.split("\n"):
        while width(line) > WIDEST:
            cut = WIDEST
            while width(line[:cut]) > WIDEST:
                cut -= 1
            yield line[:cut]
            line = line[cut:]
        yield line


def box(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """The lines of a table; of a single column, the values alone, and of no rows nothing."""
    if len(names) == 1:
        for value, in rows:
            yield shown(value)
        return
    found = [[(list(_lines(shown(value))), isinstance(value, (int, float))) for value in row] for row in rows]
    if not found:
        return
    heads = [(list(_lines(visible(name))), False) for name in names]
    widths = [max(width(line) for row in [heads, *found] for line in row[place][0]) for place in range(len(names))]

    def rule(left: str, cross: str, right: str) -> str:
        return left + cross.join("─" * (cells + 2) for cells in widths) + right

    def lines(row: List[Any]) -> Iterator[str]:
        for line in range(max(len(parts) for parts, _ in row)):
            texts = []
            for (parts, number), cells in zip(row, widths):
                text = parts[line] if line < len(parts) else ""
                space = " " * (cells - width(text))
                texts.append(f" {space}{text} " if number else f" {text}{space} ")
            yield f"│{'│'.join(texts)}│"

    tall = any(len(parts) > 1 for row in found for parts, _ in row)
    yield rule("┌", "┬", "┐")
    yield from lines(heads)
    for place, row in enumerate(found):
        if place == 0 or tall:
            yield rule("├", "┼", "┤")
        yield from lines(row)
    yield rule("└", "┴", "┘")


def _json(value: Any) -> str:
    if isinstance(value, bytes):
        return json.dumps(value.hex())
    if isinstance(value, float) and math.isinf(value):
        return "9e999" if value > 0 else "-9e999"  # as SQLite's JSON has it
    return json.dumps(value, ensure_ascii=False).translate(IN_JSON)


def as_json(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """The lines of an array of objects, one row a line."""
    keys = [_json(name) for name in names]
    line = ""
    for row in rows:
        if line:
            yield f"{line},"
        line = f"{' ' if line else '['}{{{', '.join(f'{key}: {_json(value)}' for key, value in zip(keys, row))}}}"
    yield f"{line or '['}]"


def as_csv(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Lines with commas, and the names of the columns first; NULL is empty."""
    for row in itertools.chain([names], rows):
        line = io.StringIO()
        csv.writer(line).writerow([value.hex() if isinstance(value, bytes) else value for value in row])
        yield line.getvalue()[:-2]  # without \r\n


MODES = {"table": box, "json": as_json, "csv": as_csv}
