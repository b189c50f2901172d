#!/bin/sh
# tracediff in sqlite-utils.
# usage: sqlite_utils.sh EXTENSION CONTROL TEST
#
# Trap: sqlite-utils loads extensions if the Python that it was installed with does: pyenv's does not. It
# remembers none: give --load-extension with every command.
set -eu
sqlite-utils query :memory: --load-extension "$1" --raw-lines -p control "$2" -p test "$3" "
    SELECT * FROM (SELECT format('%+.1f|%s|%s', diff_time, class, trace_short_name(name))
                   FROM trace_step_diff(:control, :test) LIMIT 3)
    UNION ALL SELECT min(ts_ns) FROM trace_events(:test)"
