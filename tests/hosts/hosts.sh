#!/bin/sh
# Fetches and builds what examples/hosts needs beside Debian's packages, and asks every host for its version.
# The hosts are prepared beside each other; one that cannot be had stops no other.
#
# usage: hosts.sh FOLDER [HOST]    FOLDER: where they are kept; HOST: prepare this one, and print what its tools say
#
# FOLDER/ready/HOST    its version, in a line
# FOLDER/missing/HOST  why it is not there, in a line
# FOLDER/log/HOST      what its tools said
# FOLDER/venv          a virtual environment with the packages of hosts.txt
set -eu

HOSTS='venv notebook hta otava node jdbc go rust shell python perl tcl php odbc rsqlite locale'
HTA=HolisticTraceAnalysis==0.5.0
OTAVA='apache-otava==0.8.0 numpy==2.2.0 scipy==1.16.3' # its analysis needs no other package
NOTEBOOK='ipykernel==7.4.0 nbconvert==7.17.2 pandas==3.1.1'
NODE=node@24.21.0
BETTER_SQLITE3=better-sqlite3@13.2.0

PYTHON=${PYTHON:-/usr/bin/python3}
tests=$(cd "$(dirname "$0")" && pwd)
examples=$tests/../../examples/hosts
mkdir -p "$1/ready" "$1/missing" "$1/log"
folder=$(cd "$1" && pwd)

prepare() { # HOST: ends with a line of its versions
    case $1 in
    venv)
        python=$folder/venv/bin/python
        if ! cmp -s "$tests/hosts.txt" "$folder/venv/hosts.txt"; then
            "$PYTHON" -m venv "$folder/venv"
            "$python" -m pip install --quiet --no-compile --requirement "$tests/hosts.txt"
            # which compiles only what is used
            env -u PYTHONDONTWRITEBYTECODE "$python" -c 'import apsw, datasette.cli, pandas, sqlite_utils.cli'
            cp "$tests/hosts.txt" "$folder/venv"
        fi
        grep -E '^(apsw|pandas|datasette|sqlite-utils|mcp)=' "$tests/hosts.txt" | xargs
        ;;
    notebook)
        if [ "$(cat "$folder/notebook/done" 2>&1)" != "$NOTEBOOK" ]; then
            "$PYTHON" -m venv --clear "$folder/notebook"
            "$folder/notebook/bin/python" -m pip install --quiet --no-compile $NOTEBOOK
            echo "$NOTEBOOK" >"$folder/notebook/done"
        fi
        "$folder/notebook/bin/python" -c "import ipykernel, nbclient, nbconvert, pandas; print('$NOTEBOOK')"
        ;;
    hta) # with Debian's packages: it names neither all nor the versions that it works with
        "$PYTHON" -c 'import networkx; import pandas; import plotly; import psutil; import yaml'
        if [ "$(cat "$folder/hta/done" 2>&1)" != "$HTA" ]; then
            "$PYTHON" -m venv --clear --system-site-packages "$folder/hta"
            "$folder/hta/bin/python" -m pip install --quiet --no-compile --no-deps "$HTA"
            echo "$HTA" >"$folder/hta/done"
        fi
        "$folder/hta/bin/python" -c "import hta.trace_analysis, pandas; print('$HTA with pandas', pandas.__version__)"
        ;;
    otava)
        if [ "$(cat "$folder/otava/done" 2>&1)" != "$OTAVA" ]; then
            "$PYTHON" -m venv --clear "$folder/otava"
            "$folder/otava/bin/python" -m pip install --quiet --no-compile --no-deps $OTAVA
            echo "$OTAVA" >"$folder/otava/done"
        fi
        "$folder/otava/bin/python" -c "import otava.analysis; print('$OTAVA')"
        ;;
    node)
        if [ "$(cat "$folder/node/done" 2>&1)" != "$NODE $BETTER_SQLITE3" ]; then
            mkdir -p "$folder/node"
            npm install --prefix "$folder/node" --no-save --no-audit --no-fund "$NODE" "$BETTER_SQLITE3"
            echo "$NODE $BETTER_SQLITE3" >"$folder/node/done"
        fi
        cd "$folder/node"
        node_modules/.bin/node -p '`Node ${process.versions.node} with SQLite ${process.versions.sqlite}, '\
"$BETTER_SQLITE3"' with SQLite ${
            new (require("better-sqlite3"))(":memory:").prepare("SELECT sqlite_version()").pluck().get()}`'
        ;;
    jdbc)
        if ! cmp -s "$examples/jdbc/pom.xml" "$folder/java/pom.xml"; then
            rm -rf "$folder/java"
            mvn --batch-mode --quiet --file "$examples/jdbc/pom.xml" dependency:copy-dependencies \
                -DoutputDirectory="$folder/java"
            echo # ends mvn's line of colours
            cp "$examples/jdbc/pom.xml" "$folder/java"
        fi
        version=$(java --version)
        echo "$(echo "$version" | head -n 1), $(basename "$folder"/java/sqlite-jdbc-*.jar .jar)"
        ;;
    go) # without optimisation: compiling SQLite takes most of the time
        cd "$examples/go"
        CGO_CFLAGS=-O0 go build -o "$folder/go/host" .
        echo "$(go version), $(go list -m github.com/mattn/go-sqlite3)"
        ;;
    rust)
        mkdir -p "$folder/rust"
        cp -Rp "$examples/rust/." "$folder/rust"
        cd "$folder/rust"
        cargo build --quiet
        echo "$(rustc --version), $(cargo tree --quiet --depth 1 --edges normal --prefix none | tail -n 1)"
        ;;
    shell)
        version=$(sqlite3 --version)
        echo "SQLite ${version%% *}"
        ;;
    python)
        "$PYTHON" -c 'import platform, sqlite3
sqlite3.connect(":memory:").enable_load_extension(False)
print(f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}")'
        ;;
    perl)
        perl -MDBI -e 'my $db = DBI->connect("dbi:SQLite:", "", "", { RaiseError => 1 });
            printf "Perl %vd, DBD::SQLite %s, SQLite %s\n", $^V, $DBD::SQLite::VERSION, $db->{sqlite_version}'
        ;;
    tcl)
        echo 'package require sqlite3; puts "Tcl [info patchlevel], SQLite [sqlite3 -version]"' >"$folder/version.tcl"
        tclsh "$folder/version.tcl"
        ;;
    php)
        php -r 'echo "PHP ", PHP_VERSION, ", SQLite ", SQLite3::version()["versionString"], "\n";'
        ;;
    odbc)
        odbcinst -q -d -n SQLite3 >/dev/null
        version=$(isql --version)
        echo "$version, SQLite $(echo 'SELECT sqlite_version()' | isql -b -d'|' -k 'Driver=SQLite3;Database=:memory:')"
        ;;
    rsqlite)
        Rscript -e 'cat(R.version.string, ", RSQLite ", format(packageVersion("RSQLite")), ", SQLite ",
            RSQLite::rsqliteVersion()[["library"]], "\n", sep = "")'
        ;;
    locale) # in which 1.5 is written 1,5
        if [ ! -d "$folder/locale/de_DE.UTF-8" ]; then
            rm -rf "$folder/locale"
            mkdir "$folder/locale"
            localedef -i de_DE -f UTF-8 "$folder/locale/part"
            mv "$folder/locale/part" "$folder/locale/de_DE.UTF-8"
        fi
        LOCPATH=$folder/locale LC_ALL=de_DE.UTF-8 locale decimal_point |
            sed 's/^/de_DE.UTF-8, in which the decimal point is /'
        ;;
    *)
        echo "'$1' is not one of $HOSTS"
        exit 1
        ;;
    esac
}

if [ $# = 2 ]; then
    prepare "$2"
    exit
fi
trap 'kill -TERM 0' INT # Ctrl-C: what runs beside this shell does not get it
for host in $HOSTS; do
    {
        rm -f "$folder/ready/$host" "$folder/missing/$host"
        log=$folder/log/$host
        if sh "$0" "$folder" "$host" >"$log" 2>&1; then
            tail -n 1 "$log" >"$folder/ready/$host"
        else
            { grep -iE 'error|not found|unable|cannot' "$log" || tail -n 1 "$log"; } |
                head -n 1 >"$folder/missing/$host"
        fi
    } &
done
wait
for host in $HOSTS; do
    if [ -e "$folder/ready/$host" ]; then echo "  $host: $(cat "$folder/ready/$host")"
    else echo "  $host is missing: $(cat "$folder/missing/$host") (see $folder/log/$host)"; fi
done
