"""examples/hosts: all examples print the same, and the traps that they warn of are real.

`make setup-hosts` installs the hosts in build/hosts; tests of a missing one are skipped with the reason.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request

from support import EXAMPLES, EXTENSION, ROOT, connect, slowest

HOSTS = os.path.join(EXAMPLES, "hosts")
PLACE = os.path.join(ROOT, "build", "hosts")
PYTHON = os.path.join(PLACE, "venv", "bin", "python")
NODE = os.path.join(PLACE, "node", "node_modules", ".bin", "node")
# first the folder of Python's programs, and where Node finds npm's packages
ENVIRONMENT = {**os.environ, "PATH": f"{os.path.dirname(PYTHON)}:{os.environ['PATH']}",
               "NODE_PATH": os.path.join(PLACE, "node", "node_modules"), "LOCPATH": os.path.join(PLACE, "locale")}

# what runs from examples/hosts, in which host of tests/hosts/hosts.sh, and how
EXAMPLE = {
    "shell.sh": ("shell", ["sh"]),
    "python.py": ("python", [sys.executable]),
    "apsw_pandas.py": ("venv", [PYTHON]),
    "node_sqlite.mjs": ("node", [NODE]),
    "better_sqlite3.cjs": ("node", [NODE]),
    "rsqlite.R": ("rsqlite", ["Rscript"]),
    "dbd_sqlite.pl": ("perl", ["perl"]),
    "tcl.tcl": ("tcl", ["tclsh"]),
    "php.php": ("php", ["php", "-d", f"sqlite3.extension_dir={os.path.dirname(EXTENSION)}"]),
    "odbc.sh": ("odbc", ["sh"]),
    "jdbc/Jdbc.java": ("jdbc", ["java", "-cp", os.path.join(PLACE, "java", "*")]),
    "go/main.go": ("go", [os.path.join(PLACE, "go", "host")]),
    "rust/src/main.rs": ("rust", [os.path.join(PLACE, "rust", "target", "debug", "tracediff-host")]),
    "datasette.sh": ("venv", ["sh"]),
    "sqlite_utils.sh": ("venv", ["sh"]),
}
COMPILED = ("go", "rust")


def needs(host, place=PLACE):
    """Skips the test where the host is missing, with the reason."""
    if not os.path.exists(os.path.join(place, "ready", host)):
        missing = os.path.join(place, "missing", host)
        why = "run `make setup-hosts`"
        if os.path.exists(missing):
            with open(missing, encoding="utf-8", errors="replace") as file:
                why = f"`make setup-hosts` could not have it: {file.read().strip()}"
        raise unittest.SkipTest(f"no {host}: {why}")


def run(*command, **environment):
    return subprocess.run(command, cwd="/", env={**ENVIRONMENT, **environment}, capture_output=True, text=True,
                          encoding="utf-8", check=False, timeout=120)


def example(name, *arguments, **environment):
    host, command = EXAMPLE[name]
    needs(host)
    script = [] if host in COMPILED else [os.path.join(HOSTS, name)]
    return run(*command, *script, *arguments, **environment)


class Files(unittest.TestCase):
    """Every file of examples/hosts is small, has a trap, runs here, and is in the README's table."""

    @staticmethod
    def files():
        for folder, _, names in os.walk(HOSTS):
            for name in names:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    yield os.path.relpath(os.path.join(folder, name), HOSTS), file.read()

    def test_have_at_most_30_lines(self):
        for name, text in self.files():
            if name != "README.md":
                with self.subTest(name):
                    self.assertLessEqual(len(text.splitlines()), 30)
                    self.assertLessEqual(max(map(len, text.splitlines())), 120)

    def test_are_all_run_and_name_their_trap(self):
        sources = {name: text for name, text in self.files()
                   if not name.endswith((".md", ".mod", ".sum", ".toml", ".xml"))}
        self.assertEqual(set(sources), set(EXAMPLE))
        for name, text in sources.items():
            with self.subTest(name):
                self.assertRegex(text, r"(?m)^(#|//|)( )?usage: .*EXTENSION CONTROL TEST$")
                self.assertRegex(text, r"(?m)^(#|//|)( )?Traps?: ")

    def test_are_in_the_table_with_the_versions_that_are_installed(self):
        table = dict(self.files())["README.md"]
        for name in EXAMPLE:
            self.assertRegex(table, rf"(?m)^\| .* \| `{re.escape(name)}` \| ")
        texts = dict(self.files())
        for name in ("hosts.txt", "hosts.sh"):
            with open(os.path.join(ROOT, "tests", "hosts", name), encoding="utf-8") as file:
                texts[name] = file.read()
        for name, pattern in (("hosts.txt", "(?m)^(?:apsw|pandas|datasette|sqlite-utils)==(.*)$"),
                              ("hosts.sh", "(?m)^[A-Z0-9_]+=.*@(.*)$"), ("go/go.mod", "go-sqlite3 v(.*)"),
                              ("rust/Cargo.toml", '"=(.*?)"'),
                              ("jdbc/pom.xml", "sqlite-jdbc</artifactId>\\s*<version>(.*)<")):
            versions = re.findall(pattern, texts[name])
            self.assertGreater(len(versions), 0, name)
            for version in versions:
                self.assertIn(version, table, name)


class Setup(unittest.TestCase):
    """tests/hosts/hosts.sh, which `make setup-hosts` runs."""

    def test_a_host_that_cannot_be_had_stops_no_other(self):
        """A host that cannot be installed does not stop another. Only Tcl is there, so the reason is written and a
        skipped test quotes it.
        """
        with tempfile.TemporaryDirectory() as place:
            tools, folder = os.path.join(place, "tools"), os.path.join(place, "hosts")
            os.mkdir(tools)
            for tool in ("sh", "mkdir", "dirname", "cat", "rm", "cp", "cmp", "cut", "head", "tail", "grep", "basename",
                         "xargs"):
                os.symlink(shutil.which(tool), os.path.join(tools, tool))
            with open(os.path.join(tools, "tclsh"), "w", encoding="ascii") as file:
                file.write("#!/bin/sh\necho Tcl 9\n")
            os.chmod(file.name, 0o755)
            ran = subprocess.run(["sh", os.path.join(ROOT, "tests", "hosts", "hosts.sh"), folder], text=True,
                                 capture_output=True, check=True,
                                 env={"PATH": tools, "PYTHON": "/nowhere/python3"})
            self.assertIn("  tcl: Tcl 9\n", ran.stdout)
            self.assertEqual(os.listdir(os.path.join(folder, "ready")), ["tcl"])
            hosts = {host for host, _ in EXAMPLE.values()} | {"hta", "locale", "notebook", "otava"}
            self.assertEqual(set(os.listdir(os.path.join(folder, "missing"))), hosts - {"tcl"})
            for host, reason in (("php", "php: not found"), ("venv", "/nowhere/python3: not found")):
                self.assertRegex(ran.stdout, f"(?m)^  {host} is missing: .*{reason} \\(see {folder}/log/{host}\\)$")
                with self.assertRaisesRegex(unittest.SkipTest,
                                            f"^no {host}: `make setup-hosts` could not have it: .*{reason}$"):
                    needs(host, folder)
        with self.assertRaisesRegex(unittest.SkipTest, "^no php: run `make setup-hosts`$"):
            needs("php", folder)


class Prints(unittest.TestCase):
    """Each example prints three parts of the difference, and the start of the test run in ns."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.control, self.test = (os.path.join(place.name, f"it's {side} \"ü\"") for side in ("control", "test"))
        for link, side in ((self.control, "control"), (self.test, "test")):
            os.symlink(os.path.join(EXAMPLES, "gpu", side), link)
        db = connect()
        rows = db.execute("SELECT format('%+.1f|%s|%s', diff_time, class, trace_short_name(name))"
                          " FROM trace_step_diff(?, ?)"
                          " LIMIT 3", (self.control, self.test)).fetchall()
        start, = db.execute("SELECT min(ts_ns) FROM trace_events(?)", (self.test,)).fetchone()
        self.assertEqual(rows[0], ("+300.0|idle_host|enumerate#_MultiProcessingDataLoaderIter.__next__",))
        self.assertNotEqual(int(float(start)), start)
        self.expected = "".join(f"{line}\n" for line in [*(line for line, in rows), start])

    def test_what_the_readme_shows(self):
        self.assertIn("".join(f"    {line}\n" for line in self.expected.splitlines()), dict(Files.files())["README.md"])

    def check(self, name, **environment):
        ran = example(name, EXTENSION, self.control, self.test, **environment)
        self.assertEqual((ran.stdout, ran.returncode), (self.expected, 0), ran.stderr)
        # an error is printed and gives the exit status
        ran = example(name, EXTENSION, "/nowhere", self.test, **environment)
        self.assertIn("trace_step_diff: cannot read '/nowhere': No such file or directory", ran.stdout + ran.stderr)
        self.assertNotEqual(ran.returncode, 0)


for _name in EXAMPLE:
    def _check(self, name=_name):
        self.check(name)
    setattr(Prints, f"test_{re.sub('[^a-zA-Z]+', '_', _name)}", slowest(_check))


@slowest
class Traps(unittest.TestCase):
    """The traps in the examples are real."""

    TRACE = os.path.join(EXAMPLES, "gpu", "test")

    def start(self):
        return connect().execute("SELECT min(ts_ns) FROM trace_events(?)", (self.TRACE,)).fetchone()[0]

    def say(self, host, *command, script=None, ending="", **environment):
        """A script's output or its failure message."""
        needs(host)
        with tempfile.NamedTemporaryFile("w", suffix=ending, encoding="utf-8") as file:
            file.write(script)
            file.flush()
            ran = run(*command, file.name, EXTENSION, self.TRACE, **environment)
        return ran.stdout + ran.stderr

    def test_integers_of_javascript(self):
        """node:sqlite throws on large integers, better-sqlite3 rounds them, and text is exact in both."""
        script = """const [extension, trace] = process.argv.slice(2);
            const show = (db) => {
                db.loadExtension(extension);
                for (const sql of ["min(ts_ns)", "CAST(min(ts_ns) AS TEXT)"])
                    try { console.log(db.prepare(`SELECT ${sql} AS ns FROM trace_events(?)`).get(trace).ns); }
                    catch (error) { console.log(error.code); }
            };
            show(new (require("node:sqlite").DatabaseSync)(":memory:", { allowExtension: true }));
            show(new (require("better-sqlite3"))(":memory:"));"""
        start = str(self.start())
        thrown, exact, rounded, also_exact = self.say("node", NODE, script=script, ending=".cjs").splitlines()[:4]
        self.assertEqual((thrown, exact, also_exact), ("ERR_OUT_OF_RANGE", start, start))
        self.assertNotEqual(rounded, start)
        self.assertEqual(float(rounded), float(start))

    def test_nodes_extensions_are_off_unless_they_are_asked_for(self):
        said = self.say("node", NODE, ending=".cjs", script="""
            new (require("node:sqlite").DatabaseSync)(":memory:").loadExtension(process.argv[2]);""")
        self.assertIn("extension loading is not allowed", said)

    def test_python_without_loadable_extensions_says_what_to_use(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "sqlite3.py"), "w", encoding="ascii") as file:
                file.write("def connect(name):\n    return object()\n")
            ran = example("python.py", EXTENSION, self.TRACE, self.TRACE, PYTHONPATH=folder)
        self.assertEqual((ran.returncode, ran.stderr), (
            1, f"{sys.executable} was built without loadable extensions: use Debian's Python, or apsw from PyPI\n"))

    def test_null_makes_pandas_round(self):
        said = self.say("venv", PYTHON, script="""
import sys, apsw, pandas
db = apsw.Connection(":memory:")
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
rows = db.execute("SELECT ts_ns FROM trace_events(?) UNION ALL SELECT NULL", sys.argv[2:]).fetchall()
for type in (None, "Int64"):
    print(int(pandas.DataFrame(rows, columns=["ns"], dtype=type).ns.min()))
""")
        rounded, exact = map(int, said.splitlines())
        self.assertEqual(exact, self.start())
        self.assertNotEqual(rounded, exact)

    def test_every_query_is_far_from_the_limit_of_cursors(self):
        """SQLite 3.54 refuses a statement once its queries, counted as often as they are named, have 1,000 cursors. The
        limit here is 700.
        """
        control, test = (os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test"))
        said = self.say("venv", PYTHON, script=f"""
import sys, apsw
db = apsw.Connection(":memory:")
names = "SELECT name FROM pragma_module_list WHERE name NOT LIKE '%:%'"
others = db.execute(names).fetchall()
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
db.limit(apsw.SQLITE_LIMIT_EXPR_DEPTH, 700)
for name, in set(db.execute(names).fetchall()) - set(others):
    hidden = [column for column, in db.execute("SELECT name FROM pragma_table_xinfo(?) WHERE hidden", [name])]
    sides = dict(control={control!r}, test={test!r}, trace={control!r})
    given = [sides[column] for column in hidden if column in sides]
    try:
        rows = db.execute(f"SELECT * FROM {{name}}({{', '.join('?' * len(given))}})", given).fetchall() if given else ()
    except apsw.SQLError as error:
        rows = ()
        if "too deep" in str(error):
            print(error)
    if rows and name.startswith("trace_clock"):
        print(name, apsw.sqlite_lib_version() >= "3.54")
""")
        self.assertEqual(said, "trace_clock_factor True\n")

    def test_numbers_of_another_locale(self):
        """In another locale R writes 1,5, and tracediff still uses points."""
        needs("locale")
        with tempfile.NamedTemporaryFile("w", suffix=".R", encoding="ascii") as profile:
            profile.write('invisible(suppressWarnings(Sys.setlocale("LC_NUMERIC",'
                          ' "de_DE.UTF-8")))\nmessage(sprintf("%.1f", 1.5))\n')
            profile.flush()
            pair = [os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test")]
            plain, german = (example("rsqlite.R", EXTENSION, *pair, **more)
                             for more in ({}, {"R_PROFILE_USER": profile.name}))
        self.assertEqual(german.stderr, "1,5\n")
        self.assertEqual((german.stdout, german.returncode), (plain.stdout, 0))

    def test_decimals_of_another_locale(self):
        """In another locale Python writes 1,5, and the note of trace_ab 1.5."""
        needs("locale")
        with tempfile.TemporaryDirectory() as folder:
            for side, last in (("control", 100), ("test", 300)):
                for number in range(3):
                    path = os.path.join(folder, side, str(number), "rank0.json")
                    os.makedirs(os.path.dirname(path))
                    with open(path, "w", encoding="ascii") as file:
                        json.dump({"traceEvents": [one for place, dur in enumerate([5, 100, 100, last, 100 + number, 5])
                                                   for one in (
                            {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{place}", "pid": 1, "tid": 1,
                             "ts": 10000 * place, "dur": 9000},
                            {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 10000 * place + 10,
                             "dur": dur})]}, file)
            said = run(sys.executable, "-c", f"""
import locale, os, sqlite3
os.chdir({folder!r})
locale.setlocale(locale.LC_NUMERIC, "de_DE.UTF-8")
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension({EXTENSION!r})
print(locale.str(1.5), *db.execute("SELECT note FROM trace_ab('control/*', 'test/*') WHERE name = 'op'").fetchone())
""")
        self.assertEqual((said.stdout, said.stderr), ("1,5 means over steps differ by +49.9 %\n", ""))

    def test_large_integers_of_r(self):
        said = self.say("rsqlite", "Rscript", script="""
            given <- commandArgs(trailingOnly = TRUE)
            db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:", loadable.extensions = TRUE)
            invisible(DBI::dbGetQuery(db, "SELECT load_extension(?)", params = list(given[1])))
            ns <- DBI::dbGetQuery(db, "SELECT min(ts_ns) AS ns FROM trace_events(?)", params = list(given[2]))$ns
            cat(class(ns), format(unclass(ns), digits = 2), "\\n")""")
        self.assertEqual(said.split()[0], "integer64")
        self.assertLess(float(said.split()[1]), 1e-100)

    def test_parameters_of_perl_are_text(self):
        said = self.say("perl", "perl", script="""
            use DBI qw(:sql_types);
            my $db = DBI->connect("dbi:SQLite:", "", "", { RaiseError => 1 });
            $db->sqlite_enable_load_extension(1);
            $db->do("SELECT load_extension(?)", undef, $ARGV[0]);
            my $query = $db->prepare("SELECT count(*) FROM trace_events(?) WHERE round(dur) > ?");
            for my $type (SQL_VARCHAR, SQL_INTEGER) {
                $query->bind_param(1, $ARGV[1]);
                $query->bind_param(2, 100, $type);
                $query->execute;
                print $query->fetchrow_array, "\\n";
            }""")
        text, number = map(int, said.split())
        self.assertEqual(text, 0)
        self.assertGreater(number, 0)

    def test_quotes_of_tcl(self):
        said = self.say("tcl", "tclsh", script="""
            package require sqlite3
            sqlite3 db :memory:
            set name "it's"
            puts [db onecolumn {SELECT $name}]
            puts [catch {db onecolumn "SELECT '$name'"} error]
            puts $error""")
        self.assertRegex(said, r"^it's\n1\n.*(unrecognized token|syntax error)")

    def test_php_loads_from_its_folder_only(self):
        load = "<?php $db = new SQLite3(':memory:'); $db->enableExceptions(true); $db->loadExtension($argv[1]);"
        self.assertRegex(self.say("php", "php", script=load), "SQLite Extensions? are disabled")
        folder = os.path.dirname(EXTENSION)
        self.assertIn("outside the defined directory",
                      self.say("php", "php", "-d", "sqlite3.extension_dir=.", script=load))
        self.assertIn("Unable to load extension",
                      self.say("php", "php", "-d", f"sqlite3.extension_dir={folder}", script=load))

    def test_pdo_loads_nothing(self):
        said = self.say("php", "php", script="<?php (new PDO('sqlite::memory:'))->query('SELECT load_extension(1)');")
        self.assertRegex(said, "not authorized")

    def ask_odbc(self, settings, sql):
        needs("odbc")
        ran = subprocess.run(["isql", "-v", "-b", "-k", f"Driver=SQLite3;Database=:memory:;{settings}"],
                             input=f"{sql}\n",
                             capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0)  # whatever failed
        return ran.stdout + ran.stderr

    def test_odbc_cuts_integers_without_bigint(self):
        sql = f"SELECT min(ts_ns) AS ns FROM trace_events('{self.TRACE}')"
        start = str(self.start())
        self.assertIn(f"| {start[:10]}|\n", self.ask_odbc(f"LoadExt={EXTENSION}", sql))
        self.assertIn(f"| {start} |\n", self.ask_odbc(f"BigInt=1;LoadExt={EXTENSION}", sql))

    def test_odbc_opens_without_an_extension_that_it_cannot_load(self):
        said = self.ask_odbc("LoadExt=/nowhere.so", "SELECT tracediff_version()")
        self.assertIn("extension '/nowhere.so' did not load", said)
        self.assertIn("no such function: tracediff_version", said)

    def test_odbc_lets_sql_load(self):
        self.assertNotIn("ERROR", self.ask_odbc("", f"SELECT load_extension('{EXTENSION}')"))

    def test_jdbc(self):
        """Without its property JDBC loads nothing, and getInt truncates."""
        said = self.say("jdbc", *EXAMPLE["jdbc/Jdbc.java"][1], ending=".java", script="""
            class Traps {
                public static void main(String[] given) throws Exception {
                    for (String enabled : new String[] {"true", "false"}) {
                        var properties = new java.util.Properties();
                        properties.setProperty("enable_load_extension", enabled);
                        var db = java.sql.DriverManager.getConnection("jdbc:sqlite::memory:", properties);
                        var query = db.createStatement();
                        query.executeQuery("SELECT load_extension('" + given[0] + "')").close();
                        var row = query.executeQuery("SELECT min(ts_ns) FROM trace_events('" + given[1] + "')");
                        System.out.println(row.getInt(1) + " " + row.getLong(1));
                    }
                }
            }""")
        cut, start = map(int, said.splitlines()[0].split())
        self.assertEqual(start, self.start())
        self.assertEqual(cut, (start + 2**31) % 2**32 - 2**31)
        self.assertIn("not authorized", said)


@slowest
class Datasette(unittest.TestCase):
    """Datasette serves anyone, with the entry point without files."""

    def setUp(self):
        needs("venv")
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.trace = os.path.join(EXAMPLES, "gpu", "test")
        database = os.path.join(place.name, "perf.db")
        db = connect(database)
        db.execute("CREATE TABLE kernels AS SELECT name, ts_ns, dur_ns FROM trace_events(?) WHERE cat = 'kernel'",
                   (self.trace,))
        self.busy = db.execute("SELECT trace_busy_time(ts_ns, dur_ns) FROM kernels").fetchone()[0]
        db.commit()
        db.close()
        self.server = subprocess.Popen(
            [os.path.join(os.path.dirname(PYTHON), "datasette"), database, "--host", "127.0.0.1", "--port", "0",
             "--load-extension", f"{EXTENSION}:sqlite3_tracediff_nofs_init"],
            cwd=place.name, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)
        for line in self.server.stderr:
            found = re.search(r"running on (http://127\.0\.0\.1:\d+)", line)
            if found:
                self.address = found[1]
                return
        self.fail("datasette did not start")

    def stop(self):
        self.server.send_signal(signal.SIGINT)
        try:
            self.server.wait(20)
        finally:
            self.server.kill()
            self.server.stderr.close()

    def ask(self, sql):
        """The rows of a query, or its error."""
        query = urllib.parse.urlencode({"_shape": "arrays", "sql": sql})
        try:
            with urllib.request.urlopen(f"{self.address}/perf.json?{query}", timeout=30) as answer:
                return json.load(answer)["rows"]
        except urllib.error.HTTPError as error:
            with error:
                return json.load(error)["error"]

    def test_gives_aggregates_and_no_file(self):
        self.assertEqual(self.ask("SELECT trace_busy_time(ts_ns, dur_ns) FROM kernels"), [[self.busy]])
        self.assertEqual(self.ask("SELECT DISTINCT trace_short_name(name) FROM kernels WHERE name LIKE '%AllReduce%'"),
                         [["ncclDevKernel_AllReduce_Sum_f32_RING_LL"]])
        for function in ("trace_events", "trace_files", "trace_diff"):
            self.assertRegex(self.ask(f"SELECT * FROM {function}('{self.trace}')"),
                             f"no such (table|function): {function}")
        self.assertEqual(self.ask(f"SELECT load_extension('{EXTENSION}')"), "not authorized")


if __name__ == "__main__":
    unittest.main()
