#!/usr/bin/python3
"""Tests the tests: changes each threshold of the answer by a third up and down, one at a time, in a copy of the tree.

    usage: mutate_answer.py [--only PATTERN] [--place FOLDER] [--header FILE] [--list] [MODULE ...]

    MODULE           test modules, run in this order until one fails (default: the answer's)
    --only PATTERN   constants whose name matches this regular expression
    --place FOLDER   the folder of the copy, its build and the results (default build/mutants)
    --header FILE    the file with the constants (default ext/analysis/answer/thresholds.h)
    --list           prints the changes

A constant is a line `#define NAME value` or `NAME = value` of an enum; its rule is the comment after it. A value is an
integer, a real or a fraction. It ends with a table for README.md, and exit status 1 if a change survives or a value
cannot be read. Known results are reused: detections while the code is unchanged, survivals while the tests are
unchanged, too. SLOW, CORPUS and GOLDEN apply to the tests; without SLOW, slow ones are left out.
"""
import argparse
import fractions
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER = os.path.join("ext", "analysis", "answer", "thresholds.h")
MODULES = ["thresholds*", "brief", "summary", "verdict", "comparability", "clock_factor", "host_factor", "mostly",
           "whole", "first_calls"]
# (constant, 'more' or 'less'): the reason why no answer can differ.
EQUAL = {}
LONGEST = 900  # time limit of a module, in seconds
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
VALUE = rf"\(?{NUMBER}[uUlLfF]*(?:\s*/\s*{NUMBER}[uUlLfF]*)?\)?"
DEFINED, ASSIGNED = r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(%s)[ \t]*$", r"\b(\w+)[ \t]*=[ \t]*(%s)[ \t]*(?=[,;}\n])"
CONSTANT = re.compile(f"{DEFINED % VALUE}|{ASSIGNED % VALUE}", re.MULTILINE)
ANY = re.compile(f"{DEFINED % '.*?'}|{ASSIGNED % '[^,;}]+?'}", re.MULTILINE)


class Constant:
    def __init__(self, name, value, start, rule):
        self.name, self.value, self.start, self.rule = name, value, start, rule


def masked(text):
    """The text with comments blanked."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda comment: re.sub(r"[^\n]", " ", comment[0]), text, flags=re.DOTALL)


def constants(text):
    """The constants of a header, and the names of constants with other values that do not follow from them."""
    code, made = masked(text), []
    for found in CONSTANT.finditer(code):
        of = 1 if found[1] else 3
        rule = re.match(r"[^\n]*?(?:/\*(.*?)\*/|//([^\n]*))", text[found.end(of + 1):], re.DOTALL)
        rule = " ".join((rule[1] or rule[2] or "").split()).rstrip(",") if rule else ""
        made.append(Constant(found[of], found[of + 1], found.start(of + 1), rule))
    names = {each.name for each in made}
    others = [(found[1] or found[3], found[2] or found[4]) for found in ANY.finditer(code)]
    return made, [name for name, value in others if name not in names and not names & set(re.findall(r"\w+", value))]


def spelt(value, of):
    """A fraction as a literal in the style of another one: an integer stays one, a real has a point."""
    if re.fullmatch(r"[-+]?\d+[uUlL]*", of):
        return str(int(value)) + re.sub(r"[-+\d]", "", of)
    text = repr(float(value))
    return text + ("f" if of[-1] in "fF" else "")


def changed(value, direction):
    """The value changed by a third up or down, at least by 1; None if that is impossible."""
    inner = value.strip("()")
    above, *below = re.split(r"\s*/\s*", inner)
    factor = fractions.Fraction(4 if direction == "more" else 2, 3)
    number = fractions.Fraction(re.sub(r"[uUlLfF]", "", above))
    if below:  # integers divide as integers, so 2 / 3 becomes 8 / 9
        made = f"{spelt(number * factor.numerator, above)} / " + spelt(
            fractions.Fraction(re.sub(r"[uUlLfF]", "", below[0])) * 3, below[0])
    elif re.fullmatch(r"[-+]?\d+[uUlL]*", above):
        step = max(1, round(abs(number) / 3))
        if number == 0 and direction == "less":
            return None
        made = spelt(number + (step if direction == "more" else -step), above)
    elif number == 0:
        return None
    else:
        made = spelt(number * factor, above)
    return value.replace(inner, made)


def files_of_tree(root):
    """Paths of files that git would add; without a repository, of all but build outputs."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True,
                            text=True)
    is_own = subprocess.run(["git", "-C", root, "rev-parse", "--show-toplevel"], capture_output=True, text=True)
    if listed.returncode == 0 and os.path.realpath(is_own.stdout.strip()) == os.path.realpath(root):
        return sorted(path for path in listed.stdout.splitlines() if os.path.isfile(os.path.join(root, path)))
    made = []
    for folder, folders, files in os.walk(root):
        folders[:] = [each for each in folders if each not in ("build", "dist", ".git", "__pycache__")]
        made += [os.path.relpath(os.path.join(folder, file), root) for file in files]
    return sorted(made)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def brought(root, copy, paths):
    """Makes the copy equal to the tree; equal files stay, so little is rebuilt."""
    for path in paths:
        source, target = os.path.join(root, path), os.path.join(copy, path)
        if not os.path.exists(target) or read(source) != read(target):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
    for path in set(files_of_tree(copy)) - set(paths):
        os.unlink(os.path.join(copy, path))


def digest(root, paths):
    of = hashlib.sha256()
    for path in paths:
        of.update(path.encode() + b"\0" + read(os.path.join(root, path)) + b"\0")
    return of.hexdigest()[:16]


def build(copy):
    """The compiler's output, if it failed."""
    made = subprocess.run(["make", "--no-print-directory", "OPTIMIZE=-O1", "all"], cwd=copy, capture_output=True,
                          text=True)
    errors = [line for line in (made.stdout + made.stderr).splitlines() if "error" in line or "Error" in line]
    return None if made.returncode == 0 else (errors or ["make failed"])[0]


def first_failure(copy, modules):
    """(module, test) of the first test that fails, or None."""
    given = {"SLOW": "skip", **os.environ, "TRACEDIFF": os.path.join(copy, "dist", "tracediff.so")}
    for module in modules:
        try:
            ran = subprocess.run([sys.executable, "tests/run.py", module], cwd=copy, env=given, capture_output=True,
                                 text=True, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            return module, f"{module} takes more than {LONGEST} s"
        if ran.returncode:
            failed = re.search(r"(?m)^FAILED: (\S+)", ran.stdout)
            if not failed:
                sys.exit(f"tests/run.py {module} failed:\n{(ran.stdout + ran.stderr)[-2000:]}")
            return module, failed[1].removeprefix("tests.")
    return None


class Mutants:
    def __init__(self, place, header, modules):
        self.place, self.copy = place, os.path.join(place, "tree")
        self.header, self.modules = header, modules
        paths = files_of_tree(ROOT)
        brought(ROOT, self.copy, paths)
        paths = [path for path in paths if not path.endswith(".md")]
        self.code = digest(ROOT, [path for path in paths if path.startswith(("ext/", "sql/", "Makefile"))])
        self.tests = digest(ROOT, [path for path in paths if path.startswith(("tests/", "examples/"))]) + repr(modules)
        self.results = os.path.join(place, "results.json")
        self.known = json.loads(read(self.results)) if os.path.exists(self.results) else {}
        self.text = read(os.path.join(ROOT, header)).decode()
        self.caught = []  # modules, with the last successful one first

    def remember(self, key, **what):
        self.known[key] = {"code": self.code, "tests": self.tests, **what}
        with open(self.results + ".new", "w", encoding="utf-8") as file:
            json.dump(self.known, file, indent=1)
        os.replace(self.results + ".new", self.results)

    def knows(self, key):
        known = self.known.get(key)
        if known and known["code"] == self.code and (known["by"] and key != "" or known["tests"] == self.tests):
            return known
        return None

    def write(self, text):
        with open(os.path.join(self.copy, self.header), "w", encoding="utf-8") as file:
            file.write(text)

    def begin(self):
        """Checks that all tests pass without a change."""
        if self.knows(""):
            return
        if failed := build(self.copy) or first_failure(self.copy, self.modules):
            sys.exit(f"without any change: {failed}")
        self.remember("", by=None)

    def ask(self, constant, direction, value):
        """The test that detects this value of the constant, or None."""
        key = f"{constant.name} {direction} {value}"
        if not (known := self.knows(key)):
            began = time.time()
            self.write(self.text[:constant.start] + value + self.text[constant.start + len(constant.value):])
            failed = build(self.copy)
            found = None if failed else first_failure(self.copy, sorted(
                self.modules, key=lambda module: -self.caught.index(module) - 1 if module in self.caught else 0))
            if found:
                self.caught = [module for module in self.caught if module != found[0]] + [found[0]]
            self.write(self.text)
            by = f"the compiler: {failed}" if failed else found and found[1]
            self.remember(key, by=by, seconds=round(time.time() - began))
            known = self.known[key]
        return known["by"]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--only", default="")
    parser.add_argument("--place", default=os.path.join(ROOT, "build", "mutants"))
    parser.add_argument("--header", default=HEADER)
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    found, others = constants(read(os.path.join(ROOT, given.header)).decode())
    asked = [(each, direction, changed(each.value, direction)) for each in found if re.search(given.only, each.name)
             for direction in ("more", "less")]
    if given.list:
        for each, direction, value in asked:
            print(f"{each.name}: {each.value} -> {value}  {each.rule}")
        return print(*(f"not read: {name}" for name in others), sep="\n")
    modules = given.modules or [os.path.basename(path)[:-3] for name in MODULES for path in sorted(
        glob.glob(os.path.join(ROOT, "tests", "answers", f"test_{name}.py")))]
    mutants = Mutants(os.path.abspath(given.place), given.header, modules)
    mutants.begin()
    said, survived = {}, []
    for number, (each, direction, value) in enumerate(asked, 1):
        if value is None or (each.name, direction) in EQUAL:
            said[each.name, direction] = EQUAL.get((each.name, direction), "0 has no third")
            continue
        by = mutants.ask(each, direction, value)
        short = re.sub(r"\d+\.\d{5,}", lambda number: format(float(number[0]), ".5g"), value)
        said[each.name, direction] = f"{short}: " + (
            by.split(".")[-1].removeprefix("test_").replace("_", " ") if by else "**survives**")
        if not by:
            survived.append(f"{each.name} = {value}")
        print(f"{number} of {len(asked)}: {each.name} {each.value} -> {value}: {by or 'SURVIVES'}", file=sys.stderr)
    print("| constant | rule | value | a third more | a third less |\n|---|---|---:|---|---|")
    for each in dict.fromkeys(each for each, _, _ in asked):
        print(f"| {each.name} | {each.rule} | {each.value} | {said[each.name, 'more']} | {said[each.name, 'less']} |")
    print(f"\n{len(asked) - len(survived)} of {len(asked)} changes are noticed"
          + "".join(f"\nsurvives: {each}" for each in survived) + "".join(f"\nnot read: {each}" for each in others))
    sys.exit(bool(survived or others))


if __name__ == "__main__":
    main()
