#!/usr/bin/python3
"""Packs the library for those who do not build it.

usage: pack.py KIND LIBRARY FOLDER      KIND: wheel, npm, deb or tarball

Checks the library, writes the package into FOLDER, and prints its path. The texts in the package are those of the
folder of its kind, with the values for @NAME@. The same library gives the same bytes: every file in a package is of the
time SOURCE_DATE_EPOCH. DEBFULLNAME and DEBEMAIL name the maintainer of the Debian package, as for Debian's own tools.
"""
import base64
import email.utils
import glob
import gzip
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# The oldest glibc that packages work with. A library that needs a newer one is refused.
GLIBC = "2.17"
# What else a package may need: all of it is on any Linux with glibc, and in the policy of manylinux.
NEEDED = {"libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "libz.so.1"}
# Of each processor: its number in ELF, and the names that npm and Debian have for it.
PROCESSORS = {"x86_64": (62, "x64", "amd64", "x86_64-linux-gnu"),
              "aarch64": (183, "arm64", "arm64", "aarch64-linux-gnu")}

EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH") or 315532800)  # 1980: zip knows no earlier time


class Refused(Exception):
    pass


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def version():
    return re.search(rb'#define TRACEDIFF_VERSION "(.*)"', read(ROOT, "ext", "version.h"))[1].decode()


def readelf(*arguments):
    done = subprocess.run(["readelf", "-W", *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C"})
    if done.returncode:
        raise Refused(f"readelf cannot read it: {done.stderr.strip()}")
    return done.stdout


def number(text):
    return tuple(map(int, text.split(".")))


def check(path):
    """Refuses a library that is not what packages promise; otherwise its processor and its bytes."""
    if not os.path.isfile(path):
        raise Refused("there is no such file: run `make dist`")
    data = read(path)
    if data[:6] != b"\x7fELF\x02\x01":
        raise Refused("it is not a library of a 64-bit Linux")
    found = [name for name, (machine, *_) in PROCESSORS.items() if machine == int.from_bytes(data[18:20], "little")]
    if not found:
        raise Refused(f"its processor is not one of {', '.join(PROCESSORS)}")
    sections = int.from_bytes(data[40:48], "little")  # their table is at the end
    if len(data) < sections + int.from_bytes(data[58:60], "little") * int.from_bytes(data[60:62], "little"):
        raise Refused("it is not whole")
    symbols = readelf("--dyn-syms", path)
    for entry in ("sqlite3_tracediff_init", "sqlite3_tracediff_nofs_init"):
        if not re.search(rf"(?m) GLOBAL DEFAULT +\d+ {entry}$", symbols):
            raise Refused(f"it does not have the entry point {entry}")
    if f"v{version()}\0".encode() not in data:
        raise Refused(f"it is not of version {version()}, which ext/version.h has")
    newer = sorted({f"{name} ({needs})" for name, needs in re.findall(r"(?m) UND (\S+)@GLIBC_([\d.]+)", symbols)
                    if number(needs) > number(GLIBC)})
    if newer:
        raise Refused(f"it needs a glibc newer than {GLIBC}: {', '.join(newer)}. Add them to"
                      " ext/packages/library/old_glibc.c, or do without")
    more = set(re.findall(r"\(NEEDED\).*\[(.*)\]",
                          readelf("-d", path))) - NEEDED - {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
    if more:
        raise Refused(f"it needs libraries that not every system has: {', '.join(sorted(more))}")
    return found[0], data


def fill(data, values):
    """The text, with the values for @NAME@; another such name is a KeyError."""
    return re.sub(rb"@([A-Z_]+)@", lambda match: values[match[1].decode()].encode(), data)


def texts(kind, values, prefix=""):
    """{name: bytes} of the files of a kind of package."""
    folder = os.path.join(HERE, kind)
    return {prefix + name: fill(read(folder, name), values) for name in os.listdir(folder) if name != "__pycache__"}


def tar_gz(files):
    """Bytes of an archive of {name: bytes}; scripts are executable."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=EPOCH) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(data), EPOCH
            entry.mode = 0o755 if name.endswith((".sh", ".so")) else 0o644
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def write(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def wheel(library, values, folder):
    """A wheel, as PEP 427 has it: of sqlite-tracediff, as PyPI has another tracediff. The module is tracediff."""
    tag = f"py3-none-manylinux_{GLIBC.replace('.', '_')}_{values['ARCH']}"
    files = texts("python", values, "tracediff/")
    info = f"sqlite_tracediff-{values['VERSION']}.dist-info/"
    files[f"{info}METADATA"] = files.pop("tracediff/METADATA") + files.pop("tracediff/README.md")
    files[f"{info}WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tracediff\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}entry_points.txt"] = b"[console_scripts]\ntracediff = tracediff.command:program\n"
    files[f"{info}licenses/LICENSE"] = read(ROOT, "LICENSE")
    files["tracediff/py.typed"] = b""
    files["tracediff/tracediff.so"] = library
    record = f"{info}RECORD"
    lines = []
    for name, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(max(EPOCH, 315532800))[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
            archive.writestr(entry, data)
    return write(folder, f"sqlite_tracediff-{values['VERSION']}-{tag}.whl", out.getvalue())


def npm(library, values, folder):
    files = {**texts("npm", values), "LICENSE": read(ROOT, "LICENSE"), "tracediff.so": library}
    name = f"sqlite-tracediff-{values['VERSION']}-linux-{values['NODE_CPU']}.tgz"
    return write(folder, name, tar_gz({f"package/{file}": files[file] for file in files}))


def sql():
    """{name: bytes} of the queries, which are installed to be read, and of the script that writes a database."""
    return {part + os.path.basename(path): read(path) for folder, part in (
                ("tracediff", ""), ("hta", ""), ("shared", "shared/"), ("database", "database/"))
            for path in glob.glob(os.path.join(ROOT, "sql", folder, "*.sql"))}


def tarball(library, values, folder):
    name = f"tracediff-v{values['VERSION']}-loadable-linux-{values['ARCH']}"
    files = {**texts("tarball", values), "LICENSE": read(ROOT, "LICENSE"), "tracediff.so": library}
    files.update({f"sql/{query}": data for query, data in sql().items()})
    return write(folder, f"{name}.tar.gz", tar_gz({f"{name}/{file}": files[file] for file in files}))


def deb(library, values, folder):
    """Laid out as `make install` does, in the folders that Debian has for libraries and documents."""
    texts_of = texts("deb", values)
    lib, share, doc = f"usr/lib/{values['DEB_LIB']}", "usr/share/tracediff", "usr/share/doc/tracediff"
    licence = "".join(f" {line or '.'}\n"
                      for line in read(ROOT, "LICENSE").decode().split("\n\n", 2)[2].rstrip("\n").split("\n"))
    files = {f"{lib}/libtracediff.so": library,
             f"{doc}/copyright": texts_of["copyright"].rstrip(b"\n") + b"\n" + licence.encode(),
             f"{doc}/changelog.gz": gzip.compress(texts_of["changelog"], mtime=EPOCH),
             f"{doc}/CHANGELOG.md.gz": gzip.compress(read(ROOT, "CHANGELOG.md"), mtime=EPOCH),
             **{f"{share}/{name}": data for name, data in sql().items()}}
    values["INSTALLED_KB"] = str(sum(1 + len(data) // 1024 for data in files.values()))
    sums = "".join(f"{hashlib.md5(data).hexdigest()}  {name}\n" for name, data in sorted(files.items()))
    files["DEBIAN/control"] = fill(read(HERE, "deb", "control"), values)
    files["DEBIAN/triggers"], files["DEBIAN/md5sums"] = texts_of["triggers"], sums.encode()
    out = os.path.join(folder, f"tracediff_{values['VERSION']}_{values['DEB_ARCH']}.deb")
    with tempfile.TemporaryDirectory() as root:
        for name, data in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
            os.chmod(write(root, name, data), 0o644)
        os.symlink("libtracediff.so", os.path.join(root, lib, "tracediff.so"))
        for parent, folders, names in os.walk(root):
            os.chmod(parent, 0o755)
            for name in folders + names:
                os.utime(os.path.join(parent, name), (EPOCH, EPOCH), follow_symlinks=False)
        try:
            subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, out], check=True,
                           stdout=subprocess.DEVNULL,
                           env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)})
        except FileNotFoundError:
            raise Refused("there is no dpkg-deb, which makes Debian packages: do so on Debian or Ubuntu") from None
    return out


def main(kind, path, folder):
    processor, library = check(path)
    _, node, debian, multiarch = PROCESSORS[processor]
    values = {"VERSION": version(), "GLIBC": GLIBC, "ARCH": processor, "NODE_CPU": node, "DEB_ARCH": debian,
              "DEB_LIB": multiarch,
              "INSTALLED_KB": "0", "DATE": email.utils.formatdate(EPOCH),
              "MAINTAINER": f"{os.environ.get('DEBFULLNAME') or 'the tracediff authors'}"
                            f" <{os.environ.get('DEBEMAIL') or 'authors@tracediff.invalid'}>"}
    os.makedirs(folder, exist_ok=True)
    print(KINDS[kind](library, values, folder))


KINDS = {"wheel": wheel, "npm": npm, "deb": deb, "tarball": tarball}

if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except Refused as refused:
        sys.exit(f"pack.py: cannot pack {sys.argv[2]}: {refused}")
