"""The Python package in the layout of a wheel, with the extension under test.

    usage: packed.py FOLDER      makes FOLDER/tracediff
"""
import os
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "ext", "packages"))
import pack  # noqa: E402

VERSION = pack.version()


def make(folder, extension):
    package = os.path.join(folder, "tracediff")
    os.makedirs(package, exist_ok=True)
    for name, text in pack.module({"VERSION": VERSION}).items():
        with open(os.path.join(package, name), "wb") as file:
            file.write(text)
    library = os.path.join(package, f"tracediff{os.path.splitext(extension)[1]}")
    if os.path.lexists(library):
        os.remove(library)
    if os.name == "nt":  # which only some users' links reach
        shutil.copyfile(extension, library)
    else:
        os.symlink(os.path.abspath(extension), library)


if __name__ == "__main__":
    make(sys.argv[1], os.environ.get("TRACEDIFF") or os.path.join(ROOT, "dist", "tracediff.so"))
