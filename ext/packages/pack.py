#!/usr/bin/python3
"""Packs libraries for those who do not build them.

usage: pack.py KIND FOLDER LIBRARY ...      KIND: wheel, npm, deb or tarball; a LIBRARY is of one platform

Checks the libraries, writes their packages into FOLDER, and prints the paths. deb and tarball are for Linux with glibc;
others are left out. The texts in the package are those of the folder of its kind, with the values for @NAME@. The same
library gives the same bytes: every file in a package is of the time SOURCE_DATE_EPOCH. DEBFULLNAME and DEBEMAIL name
the maintainer of the Debian package, as for Debian's own tools.
"""
import base64
import email.utils
import glob
import gzip
import hashlib
import io
import json
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
# The other libraries that a package may need are those of every system.
NEEDED = {"linux": {"libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2",
                    "ld-linux-aarch64.so.1"},
          "musl": {"libc.so"},
          "macos": {"/usr/lib/libSystem.B.dylib"},
          "windows": {"kernel32.dll", "ntdll.dll"}}
# Numbers of processors, in ELF, in Mach-O and in PE.
ELF = {62: "x86_64", 183: "aarch64"}
MACH_O = {0x01000007: "x86_64", 0x0100000c: "arm64"}
PE = {0x8664: "x86_64"}
# Of each platform the tag of its wheel, and what npm calls its system, its processor, its package and its C library.
PLATFORMS = {"linux-x86_64": (f"manylinux_{GLIBC.replace('.', '_')}_x86_64", "linux", "x64", "linux-x64", "glibc"),
             "linux-aarch64": (f"manylinux_{GLIBC.replace('.', '_')}_aarch64", "linux", "arm64", "linux-arm64",
                               "glibc"),
             "musl-x86_64": ("musllinux_1_2_x86_64", "linux", "x64", "linux-x64-musl", "musl"),
             "musl-aarch64": ("musllinux_1_2_aarch64", "linux", "arm64", "linux-arm64-musl", "musl"),
             "macos-arm64": ("macosx_13_0_arm64", "darwin", "arm64", "darwin-arm64", None),
             "macos-x86_64": ("macosx_13_0_x86_64", "darwin", "x64", "darwin-x64", None),
             "windows-x86_64": ("win_amd64", "win32", "x64", "windows-x64", None)}
# What Debian calls its processor, and the folder of its libraries.
DEBIAN = {"linux-x86_64": ("amd64", "x86_64-linux-gnu"), "linux-aarch64": ("arm64", "aarch64-linux-gnu")}

SCHEMA = "brief.schema.json"

EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH") or 315532800)  # 1980: zip knows no earlier time


class Refused(Exception):
    pass


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def version():
    return re.search(rb'#define TRACEDIFF_VERSION "(.*)"', read(ROOT, "ext", "version.h"))[1].decode()


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    if done.returncode:
        raise Refused(f"{command[0]} cannot read it: {done.stderr.strip()}")
    return done.stdout


def number(text):
    return tuple(map(int, text.split(".")))


def whole_number(data, at, size):
    return int.from_bytes(data[at:at + size], "little")


def look_at_elf(path, data):
    """Its platform, the libraries that it needs, and its functions."""
    sections = whole_number(data, 40, 8)  # their table is at the end
    if len(data) < sections + whole_number(data, 58, 2) * whole_number(data, 60, 2):
        raise Refused("it is not whole")
    symbols = output("readelf", "-W", "--dyn-syms", path)
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-W", "-d", path)))
    newer = sorted({f"{name} ({needs})" for name, needs in re.findall(r"(?m) UND (\S+)@GLIBC_([\d.]+)", symbols)
                    if number(needs) > number(GLIBC)})
    if newer:
        raise Refused(f"it needs a glibc newer than {GLIBC}: {', '.join(newer)}. Add them to"
                      " ext/packages/library/old_glibc.c, or do without")
    return ("musl" if "libc.so" in needed else "linux", ELF.get(whole_number(data, 18, 2)), needed,
            re.findall(r"(?m) GLOBAL DEFAULT +\d+ (\w+)$", symbols))


def look_at_mach_o(_, data):
    at, needed, oldest = 32, set(), None
    for _ in range(whole_number(data, 16, 4)):
        command, size = whole_number(data, at, 4), whole_number(data, at + 4, 4)
        if command == 0xc:  # LC_LOAD_DYLIB
            needed.add(data[at + whole_number(data, at + 8, 4):at + size].rstrip(b"\0").decode())
        if command == 0x32:  # LC_BUILD_VERSION
            oldest = f"{data[at + 14]}.{data[at + 13]}"
        if command == 0x19:  # LC_SEGMENT_64
            if whole_number(data, at + 40, 8) + whole_number(data, at + 48, 8) > len(data):
                raise Refused("it is not whole")
        at += size
    processor = MACH_O.get(whole_number(data, 4, 4))
    tag = f"macosx_{str(oldest).replace('.', '_')}_{processor}"
    if processor and tag != PLATFORMS[f"macos-{processor}"][0]:
        raise Refused(f"it is for macOS {oldest}, which PLATFORMS does not say")
    return "macos", processor, needed, re.findall(r"\0_(sqlite3_\w+)(?=\0)", data.decode("latin1"))


def look_at_pe(path, data):
    about = output("objdump", "-p", path)
    needed = {name.lower() for name in re.findall(r"DLL Name: (\S+)", about)}
    # The C runtime of Windows 10 and later is these.
    return ("windows", PE.get(whole_number(data, whole_number(data, 60, 4) + 4, 2)),
            {name for name in needed if not name.startswith("api-ms-win-crt-")}, re.findall(r"\b(sqlite3_\w+)", about))


# How a file begins, and what looks at it.
FORMATS = ((b"\x7fELF\x02\x01", look_at_elf), (b"\xcf\xfa\xed\xfe", look_at_mach_o), (b"MZ", look_at_pe))


def check(path):
    """Refuses a library that is not what packages promise; otherwise its platform and its bytes."""
    if not os.path.isfile(path):
        raise Refused("there is no such file: run `make dist`")
    data = read(path)
    look_at = next((look for begin, look in FORMATS if data.startswith(begin)), None)
    if not look_at:
        raise Refused("it is not a library of a 64-bit Linux, of macOS or of Windows")
    system, processor, needed, functions = look_at(path, data)
    platform = f"{system}-{processor}"
    if platform not in PLATFORMS:
        raise Refused(f"its processor is not one of those of {', '.join(PLATFORMS)}")
    for entry in ("sqlite3_tracediff_init", "sqlite3_tracediff_nofs_init"):
        if entry not in functions:
            raise Refused(f"it does not have the entry point {entry}")
    if f"v{version()}\0".encode() not in data:
        raise Refused(f"it is not of version {version()}, which ext/version.h has")
    more = needed - NEEDED[system]
    if more:
        raise Refused(f"it needs libraries that not every system has: {', '.join(sorted(more))}")
    return platform, data


def fill(data, values):
    """The text, with the values for @NAME@; another such name is a KeyError."""
    return re.sub(rb"@([A-Z_]+)@", lambda match: values[match[1].decode()].encode(), data)


def texts(kind, values, prefix=""):
    """{name: bytes} of the files of a kind of package."""
    folder = os.path.join(HERE, kind)
    return {prefix + name: fill(read(folder, name), values) for name in os.listdir(folder) if name != "__pycache__"}


def module(values, prefix=""):
    """{name: bytes} of the module for Python, but for its library."""
    return {**texts("python", values, prefix), f"{prefix}{SCHEMA}": read(ROOT, "sql", SCHEMA)}


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


def licences():
    """{name: bytes} of the licences of what is in a library."""
    folder = os.path.join(HERE, "licences")
    return {"LICENSE": read(ROOT, "LICENSE"), **{name: read(folder, name) for name in sorted(os.listdir(folder))}}


def ending(platform):
    return {"macos": "dylib", "windows": "dll"}.get(platform.split("-")[0], "so")


def wheel(platform, library, values, folder):
    """A wheel, as PEP 427 has it: of sqlite-tracediff, as PyPI has another tracediff. The module is tracediff."""
    tag = f"py3-none-{PLATFORMS[platform][0]}"
    files = module(values, "tracediff/")
    info = f"sqlite_tracediff-{values['VERSION']}.dist-info/"
    files[f"{info}METADATA"] = files.pop("tracediff/METADATA") + files.pop("tracediff/README.md")
    files[f"{info}WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tracediff\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}entry_points.txt"] = b"[console_scripts]\ntracediff = tracediff.command:program\n"
    files.update({f"{info}licenses/{name}": data for name, data in licences().items()})
    files["tracediff/py.typed"] = b""
    files[f"tracediff/tracediff.{ending(platform)}"] = library
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


def npm(platform, library, values, folder):
    """The package of a platform, which npm_main() names."""
    _, system, processor, name, libc = PLATFORMS[platform]
    file = f"tracediff.{ending(platform)}"
    about = {"name": f"sqlite-tracediff-{name}", "version": values["VERSION"],
             "description": f"The library of sqlite-tracediff for {name}",
             "license": "MIT AND BSD-3-Clause AND Zlib", "os": [system], "cpu": [processor],
             **({"libc": [libc]} if libc else {}), "exports": {f"./{file}": f"./{file}"}}
    files = {**licences(), file: library, "package.json": f"{json.dumps(about, indent=2)}\n".encode(),
             "README.md": f"The library of sqlite-tracediff for {name}: install that package.\n".encode()}
    return write(folder, f"sqlite-tracediff-{name}-{values['VERSION']}.tgz",
                 tar_gz({f"package/{name}": data for name, data in files.items()}))


def npm_main(values, folder):
    """The package that depends on all of those, of which npm installs the one of its platform."""
    files = {**texts("npm", values), "LICENSE": read(ROOT, "LICENSE"), SCHEMA: read(ROOT, "sql", SCHEMA)}
    about = json.loads(files["package.json"])
    about["optionalDependencies"] = {f"sqlite-tracediff-{name}": values["VERSION"]
                                     for _, _, _, name, _ in PLATFORMS.values()}
    files["package.json"] = f"{json.dumps(about, indent=2)}\n".encode()
    return write(folder, f"sqlite-tracediff-{values['VERSION']}.tgz",
                 tar_gz({f"package/{name}": data for name, data in files.items()}))


def sql():
    """{name: bytes} of the queries, which are installed to be read, of the script that writes a database, and of the
    schema of trace_brief."""
    return {SCHEMA: read(ROOT, "sql", SCHEMA),
            **{part + os.path.basename(path): read(path) for folder, part in (
                   ("tracediff", ""), ("hta", ""), ("shared", "shared/"), ("database", "database/"),
                   ("patterns/*", "patterns/"))
               for path in glob.glob(os.path.join(ROOT, "sql", folder, "*.sql"))}}


def tarball(platform, library, values, folder):
    values["ARCH"] = platform.split("-")[1]
    name = f"tracediff-v{values['VERSION']}-loadable-{platform}"
    files = {**texts("tarball", values), **licences(), "tracediff.so": library}
    files.update({f"sql/{query}": data for query, data in sql().items()})
    return write(folder, f"{name}.tar.gz", tar_gz({f"{name}/{file}": files[file] for file in files}))


def paragraph(path, after=0):
    """A licence as Debian's copyright has it, without the first paragraphs."""
    lines = read(ROOT, path).decode().split("\n\n", after)[after].rstrip("\n").split("\n")
    return "\n".join(f" {line.strip() or '.'}" for line in lines)


def deb(platform, library, values, folder):
    """Laid out as `make install` does, in the folders that Debian has for libraries and documents."""
    values["DEB_ARCH"], values["DEB_LIB"] = DEBIAN[platform]
    values.update(EXPAT=paragraph("LICENSE", after=2), BSD=paragraph("ext/packages/licences/LICENSE.isa-l"),
                  ZLIB=paragraph("ext/packages/licences/LICENSE.zlib"))
    texts_of = texts("deb", values)
    lib, share, doc = f"usr/lib/{values['DEB_LIB']}", "usr/share/tracediff", "usr/share/doc/tracediff"
    files = {f"{lib}/libtracediff.so": library,
             f"{doc}/copyright": texts_of["copyright"],
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


def main(kind, folder, *paths):
    os.makedirs(folder, exist_ok=True)
    values = {"VERSION": version(), "GLIBC": GLIBC, "ARCH": "", "DEB_ARCH": "", "DEB_LIB": "", "INSTALLED_KB": "0",
              "DATE": email.utils.formatdate(EPOCH),
              "MAINTAINER": f"{os.environ.get('DEBFULLNAME') or 'the tracediff authors'}"
                            f" <{os.environ.get('DEBEMAIL') or 'authors@tracediff.invalid'}>"}
    found = {}
    for path in paths:
        try:
            platform, library = check(path)
            if platform in found:
                raise Refused(f"another library is for {platform}, too")
            found[platform] = library
        except Refused as refused:
            sys.exit(f"pack.py: cannot pack {path}: {refused}")
    for platform, library in found.items():
        if kind in ("wheel", "npm") or platform in DEBIAN:
            print(KINDS[kind](platform, library, {**values}, folder))
    if kind == "npm":
        print(npm_main(values, folder))


KINDS = {"wheel": wheel, "npm": npm, "deb": deb, "tarball": tarball}

if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except Refused as refused:
        sys.exit(f"pack.py: {refused}")
