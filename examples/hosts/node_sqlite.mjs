// tracediff in Node's own node:sqlite, from 22.13 on.
// usage: node node_sqlite.mjs EXTENSION CONTROL TEST
//
// Trap: JavaScript's numbers are exact up to 2^53, and ts_ns is larger: reading it throws ERR_OUT_OF_RANGE.
// setReadBigInts(true) gives BigInt, for all integers of the statement; or ask for CAST(ts_ns AS TEXT).
import { DatabaseSync } from "node:sqlite";

const [extension, control, test] = process.argv.slice(2);
const db = new DatabaseSync(":memory:", { allowExtension: true });
db.loadExtension(extension);
db.enableLoadExtension(false); // SQL alone can load nothing from here on

const diff = db.prepare(`SELECT format('%+.1f', diff_time), class, trace_short_name(name)
  FROM trace_step_diff(?, ?) LIMIT 3`);
for (const row of diff.all(control, test)) console.log(Object.values(row).join("|"));

const start = db.prepare("SELECT min(ts_ns) AS ns FROM trace_events(?)");
start.setReadBigInts(true);
console.log(String(start.get(test).ns));
