// tracediff in better-sqlite3, from npm.
// usage: node better_sqlite3.cjs EXTENSION CONTROL TEST
//
// Trap: JavaScript's numbers are exact up to 2^53, and ts_ns is larger: its last digits are wrong, and nothing
// says so. safeIntegers() gives BigInt, for all integers of the statement; or ask for CAST(ts_ns AS TEXT).
const Database = require("better-sqlite3");

const [extension, control, test] = process.argv.slice(2);
const db = new Database(":memory:");
db.loadExtension(extension);

const diff = db.prepare(`SELECT format('%+.1f', diff_time), class, trace_short_name(name)
  FROM trace_step_diff(?, ?) LIMIT 3`);
for (const row of diff.raw().all(control, test)) console.log(row.join("|"));

const start = db.prepare("SELECT min(ts_ns) AS ns FROM trace_events(?)").safeIntegers();
console.log(String(start.get(test).ns));
