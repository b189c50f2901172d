"""What a notebook shows: pages in frames of their own, and rows as a DataFrame."""
import html
import re
from typing import Any, Iterator, List, Sequence, Tuple

BESIDE_FIGURES = 188  # px: a title, a legend and a foot
OF_A_REPORT = 800  # px


class Page(str):
    """The text of a page of tracediff, such as trace_diff_report() and the visualize_ functions give.

    A notebook shows it in a frame, whose scripts reach nothing outside of it. `height` is in px.
    """

    height: int

    def __new__(cls, text: str) -> "Page":
        page = super().__new__(cls, text)
        figures = [int(height) for height in re.findall(r'"height":(\d+)', text)]
        page.height = BESIDE_FIGURES + sum(figures) if figures else OF_A_REPORT
        return page

    def __repr__(self) -> str:
        title = re.search("<title>(.*?)</title>", self)
        return f"<tracediff.Page: {html.unescape(title[1]) if title else 'without a title'}>"

    def _repr_html_(self) -> str:
        return (f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{html.escape(self)}" width="100%"'
                f' height="{self.height}" style="border: 0"></iframe>')


def ask(connection: Any, sql: str, parameters: Any = ()) -> Tuple[List[str], Iterator[Sequence[Any]]]:
    """The names of the columns and the rows of one statement, of a connection of sqlite3 or apsw."""
    cursor = connection.cursor()
    if not hasattr(cursor, "exec_trace"):
        cursor.execute(sql, parameters)
        return [column[0] for column in cursor.description or ()], cursor
    described: List[Any] = []

    def begin(cursor: Any, *_: Any) -> bool:  # apsw: afterwards it has no columns of a statement without rows
        if described:
            raise ValueError("You can only execute one statement at a time.")  # as sqlite3 says it
        described.append(cursor.get_description())
        return True

    cursor.exec_trace = begin
    cursor.execute(sql, parameters)
    return [column[0] for column in (described or [()])[0]], cursor


class _Asked:
    """What connections of tracediff.connect() have beside their own methods."""

    def page(self, sql: str, parameters: Any = ()) -> Page:
        """The page that a statement gives: SELECT html FROM trace_diff_report(...), SELECT visualize_...(...) ..."""
        _, rows = ask(self, sql, parameters)
        found = list(rows)
        if len(found) != 1 or len(found[0]) != 1 or not str(found[0][0]).startswith("<!DOCTYPE html>"):
            raise ValueError("page: the statement must give one page, as SELECT html FROM trace_diff_report(...) and"
                             " SELECT visualize_step_diff(...) FROM ... do")
        return Page(found[0][0])

    def frame(self, sql: str, parameters: Any = ()) -> Any:
        """The rows of a statement as a DataFrame of pandas; integers stay exact where others are NULL."""
        import pandas
        names, found = ask(self, sql, parameters)
        rows = list(map(tuple, found))
        frame = pandas.DataFrame(rows, columns=range(len(names)))
        for place, values in enumerate(zip(*rows)):
            if {type(value) for value in values} == {int, type(None)}:
                frame[place] = pandas.array(values, dtype="Int64")
        frame.columns = names
        return frame


def notebook_connection(kind: type) -> type:
    """The class of connections that is `kind` and has these methods."""
    return type("Connection", (_Asked, kind), {"__module__": "tracediff"})
