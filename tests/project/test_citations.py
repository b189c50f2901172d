"""Rule numbers and links resolve: everything that a comment, a query, a test or a document cites exists.

Rules have a letter and a number, and are defined once: as `* **T1** ...` in a document. A rule keeps its number, so
removing a rule leaves a gap. The numbers of a letter ascend within a section.
"""
import fnmatch
import os
import re
import unittest

from support import ROOT
from test_documents import DOCUMENTS, read

# where each letter's rules are defined
HOMES = {**dict.fromkeys([*"TKALCOZIJXPBFWQVEMGNRHYU", "FR", "CL", "DG"], "sql/RULES.md"), "D": "sql/HTA.md",
         "S": "ext/README.md"}
LETTERS = "|".join(HOMES)
# control characters, C and its compilers, `[A-Z0-9]`, a device: not rules
OTHERS = ("C0", "C11", "C17", "C23", "O0", "Z0", "I64", "L40")
ENDINGS = (".c", ".h", ".S", ".py", ".sh", ".sql", ".awk", ".css", ".js", ".tsv", ".md")
FILE = r"[\w*/.]*[\w*]\.(?:c|h|S|py|sh|sql|awk|css|js|tsv|md|png)"


def sources():
    """(path, text) of hand-written files."""
    for top in ("ext", "sql", "tests", "examples"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), ROOT)
                if name.endswith(ENDINGS) and not path.startswith(os.path.join("tests", "data")):
                    yield path, read(path)


def definitions():
    """[(letter, number, document)]"""
    return [(letter, int(number), document) for document in DOCUMENTS
            for letter, number in re.findall(r"(?m)^\* \*\*([A-Z]+)(\d+)\*\* ", read(document))]


def cases():
    """(letter, number, case) as text, for `T5.2`: the lines of a rule's numbered list."""
    for document in DOCUMENTS:
        for letter, number, rule in re.findall(r"(?ms)^\* \*\*([A-Z]+)(\d+)\*\* (.*?)(?=^[*#]|\Z)", read(document)):
            for case in re.findall(r"(?m)^  (\d+)\. ", rule):
                yield letter, number, case


def citations(text):
    """(letter, number) for `T5`, and for each rule in `S1 to S22`."""
    for letter, first, last in re.findall(rf"\b({LETTERS})(\d{{1,2}})(?: to \1(\d{{1,2}}))?\b", text):
        for number in range(int(first), int(last or first) + 1):
            if f"{letter}{number}" not in OTHERS:
                yield letter, number


def anchors(document):
    """The anchors of its headings, in GitHub's format."""
    text = re.sub(r"(?s)\n```.*?\n```\n", "\n", read(document))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"(?m)^#+ (.*)$", text)}


class Rules(unittest.TestCase):
    def test_are_defined_once_and_in_one_place(self):
        found = definitions()
        for letter, home in HOMES.items():
            numbers = [number for own, number, document in found if own == letter]
            with self.subTest(letter):
                self.assertEqual(len(numbers), len(set(numbers)))
                self.assertEqual({document for own, _, document in found if own == letter}, {home})
        self.assertEqual({letter for letter, _, _ in found}, set(HOMES))

    def test_ascend_within_a_section(self):
        for document in DOCUMENTS:
            for part in re.split(r"(?m)^##+ ", read(document)):
                for letter in HOMES:
                    numbers = [int(number) for number in re.findall(rf"(?m)^\* \*\*{letter}(\d+)\*\* ", part)]
                    with self.subTest(document, section=part.split("\n", 1)[0], letter=letter):
                        self.assertEqual(numbers, sorted(numbers))

    def test_that_are_defined_are_cited(self):
        """Every defined rule is cited, except rules about reading the others."""
        cited = {rule for path, text in sources() for rule in citations(text) if not path.endswith(".md")}
        self.assertEqual({f"{letter}{number}" for letter, number, _ in definitions()
                          if letter not in "DS" and (letter, number) not in cited}, set())

    def test_that_are_cited_are_defined(self):
        defined = {(letter, number) for letter, number, _ in definitions()}
        cited = set()
        for path, text in [*sources(), *((document, read(document)) for document in DOCUMENTS)]:
            found = set(citations(text))
            cited |= found
            with self.subTest(path):
                self.assertEqual(found - defined, set())
        self.assertGreater(len(cited), 60)

    def test_have_the_cases_that_are_cited(self):
        defined, count = set(cases()), 0
        for path, text in [*sources(), *((document, read(document)) for document in DOCUMENTS)]:
            cited = re.findall(rf"\b({LETTERS})(\d{{1,2}})\.(\d+)", text)
            count += len(cited)
            with self.subTest(path):
                self.assertEqual(set(cited) - defined, set())
        self.assertGreater(count, 5)

    def test_of_a_head_that_are_cited_are_in_it(self):
        """`rule 4` is in the file itself or in its header; `text.h, rule 4` is in that header."""
        texts = {os.path.basename(path): text for path, text in sources()}
        cited = 0
        for name, text in texts.items():
            stem, ending = os.path.splitext(name)
            if ending not in (".c", ".h"):
                continue
            for header, numbers in re.findall(r"(?:\b(\w+\.h), )?\brules? ((?:\d+(?:, | and | to )?)+)", text):
                homes = [texts[header]] if header else [text, texts.get(f"{stem}.h", "")]
                for number in re.findall(r"\d+", numbers):
                    cited += 1
                    with self.subTest(name, header=header, rule=number):
                        self.assertTrue(any(re.search(rf"(?m)^\*\* {number}\. ", home) for home in homes))
        self.assertGreater(cited, 40)

    def test_are_not_said_to_be_in_readme(self):
        for path, text in sources():
            if not path.endswith(".md") and os.path.basename(path) != os.path.basename(__file__):
                with self.subTest(path):
                    self.assertNotRegex(text, r"README(\.md)?(['’]s|,)? (rules?|[TKDS]\d)|README above")


class Links(unittest.TestCase):
    def test_of_documents_lead_somewhere(self):
        links = 0
        for document in DOCUMENTS:
            for path, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", read(document)):
                if path.startswith("http"):
                    continue
                links += 1
                target = os.path.normpath(os.path.join(os.path.dirname(document), path)) if path else document
                with self.subTest(document, link=f"{path}#{anchor}"):
                    self.assertTrue(os.path.exists(os.path.join(ROOT, target)))
                    if anchor:
                        self.assertIn(anchor, anchors(target))
        self.assertGreater(links, 60)

    def test_files_that_documents_name_are_there(self):
        """Files that documents name exist, by path from the top or from the document, or by name alone."""
        paths = {path for path, _ in sources()} | set(DOCUMENTS) | {
            os.path.join("examples", name) for name in os.listdir(os.path.join(ROOT, "examples"))}
        names = {os.path.basename(path) for path in paths}
        for document in DOCUMENTS:
            if document == "CHANGELOG.md":  # which describes the past
                continue
            for name in re.findall(rf"`({FILE})`", read(document)):
                near = os.path.normpath(os.path.join(os.path.dirname(document), name))
                with self.subTest(document, name=name):
                    self.assertTrue("NAME" in name or fnmatch.filter(paths, near) or
                                    fnmatch.filter(paths if "/" in name else names, name))

    def test_files_that_sources_name_are_there(self):
        for path, text in sources():
            for name in re.findall(rf"\b((?:ext|sql|tests|examples)/[\w/.]*\w\.(?:c|h|py|sh|sql|awk|tsv|md))\b", text):
                with self.subTest(path, name=name):
                    self.assertTrue("NAME" in name or os.path.exists(os.path.join(ROOT, name)), name)
