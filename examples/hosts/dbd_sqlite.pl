#!/usr/bin/perl
# tracediff in Perl's DBD::SQLite.
# usage: dbd_sqlite.pl EXTENSION CONTROL TEST
#
# Trap: parameters are bound as text. `WHERE round(dur) > ?` then holds for no row, as SQLite sorts every number
# before every text. Bind with a type: $query->bind_param(1, 100, SQL_INTEGER).
use strict;
use warnings;
use DBI;

my ($extension, $control, $test) = @ARGV;
my $db = DBI->connect("dbi:SQLite:dbname=:memory:", "", "", { RaiseError => 1, PrintError => 0 });
$db->sqlite_enable_load_extension(1);
$db->do("SELECT load_extension(?)", undef, $extension);
$db->sqlite_enable_load_extension(0);    # SQL alone can load nothing from here on

my $diff = $db->selectall_arrayref(
    "SELECT format('%+.1f', diff_time), class, trace_short_name(name)
     FROM trace_step_diff(?, ?) LIMIT 3", undef, $control, $test);
print join("|", @$_), "\n" for @$diff;
print $db->selectrow_array("SELECT min(ts_ns) FROM trace_events(?)", undef, $test), "\n";
