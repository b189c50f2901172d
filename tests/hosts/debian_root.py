"""Builds a separate Debian without a network: a folder with the packages that every Debian has, copied from this
machine.
"""
import os
import re
import subprocess

INFO = "var/lib/dpkg/info"


def paragraphs():
    """{name: fields} of the installed packages for this processor, from dpkg's list."""
    native = subprocess.run(["dpkg", "--print-architecture"], stdout=subprocess.PIPE, text=True,
                            check=True).stdout.strip()
    with open("/var/lib/dpkg/status", encoding="utf-8") as file:
        for text in file.read().split("\n\n"):
            fields = dict(re.findall(r"(?m)^([\w-]+): ?(.*(?:\n[ \t].*)*)", text))
            if fields.get("Status") == "install ok installed" and fields["Architecture"] in (native, "all"):
                yield fields["Package"], {**fields, "text": text}


def closure(names):
    """The packages with these names, the essential ones, and all their dependencies."""
    installed = dict(paragraphs())
    providers = {provided: name for name, fields in installed.items()
                 for provided in re.findall(r"(?:^|, )([\w.+-]+)", fields.get("Provides", ""))}
    found, wanted = {}, [*names, *(name for name, fields in installed.items() if "Essential" in fields)]
    while wanted:
        name = wanted.pop()
        name = name if name in installed else providers.get(name)
        if name and name not in found:
            found[name] = installed[name]
            needs = f"{installed[name].get('Depends', '')}, {installed[name].get('Pre-Depends', '')}"
            wanted += re.findall(r"([\w.+-]+)[^,|]*", needs)  # the installed alternatives
    return found


def make(folder, *names):
    """Builds it for chroot. Nothing outside the folder changes."""
    packages = closure(names)
    files = set()
    for name, fields in packages.items():
        for own in (name, f"{name}:{fields['Architecture']}"):
            if os.path.exists(f"/{INFO}/{own}.list"):
                with open(f"/{INFO}/{own}.list", encoding="utf-8") as file:
                    files.update(line[1:] for line in file.read().splitlines() if os.path.lexists(line))
                files.update(f"{INFO}/{own}.{kind}" for kind in ("list", "triggers", "postinst", "conffiles", "shlibs")
                             if os.path.exists(f"/{INFO}/{own}.{kind}"))
    files = {name for name in files if name
             and not name.startswith(("usr/share/doc/", "usr/share/man/", "usr/share/locale/"))}
    merged = {name for name in ("bin", "sbin", "lib", "lib64") if os.path.islink(f"/{name}")}  # with those in /usr
    for name in merged:
        os.makedirs(os.path.join(folder, "usr", name))
        os.symlink(f"usr/{name}", os.path.join(folder, name))
    pack = subprocess.Popen(["tar", "-C", "/", "--no-recursion", "--verbatim-files-from", "-T", "-", "-cf", "-"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    unpack = subprocess.Popen(["tar", "-C", folder, "-x", "--keep-directory-symlink", "-f", "-"], stdin=pack.stdout)
    pack.stdout.close()
    pack.stdin.write("\n".join(sorted(files - merged)).encode())
    pack.stdin.close()
    if unpack.wait() or pack.wait():
        raise OSError(f"cannot copy the files of {', '.join(packages)}")
    for path in ("dev", "tmp", "var/lib/dpkg/updates", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial",
                 "var/log/apt"):
        os.makedirs(os.path.join(folder, path), exist_ok=True)
    with open(os.path.join(folder, "var/lib/dpkg/status"), "w", encoding="utf-8") as file:
        file.write("".join(fields["text"] + "\n\n" for fields in packages.values()))
    for name, text in (("dev/null", ""), ("etc/passwd", "root:x:0:0::/:/bin/sh\n_apt:x:42:65534::/:/bin/false\n"),
                       ("etc/group", "root:x:0:\nnogroup:x:65534:\n")):
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)
