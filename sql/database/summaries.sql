-- Fills the tables of tables.sql with rows that add up over ranks, from the traces in temp.input:
--
--   CREATE TEMP TABLE input (side TEXT, path TEXT, with_args INTEGER);

INSERT INTO about
SELECT * FROM (VALUES ('content', 'PyTorch profiler traces, written by tracediff'), ('layout', '1'),
  ('created_utc', strftime('%Y-%m-%dT%H:%M:%SZ', 'now')), ('tracediff', tracediff_version()),
  ('sqlite', sqlite_version()))
UNION ALL SELECT side, path FROM temp.input;

INSERT INTO files
SELECT NULL, side, file, rank, rank_source,
       CASE WHEN world_size || '' = CAST(world_size AS INTEGER) || '' THEN CAST(world_size AS INTEGER) END,
       backend, device, steps, first_step, last_step, events, rows, skipped, problems, start_unix_ns, start_ns,
       end_ns, size, json_size, start_ns / 1e9,
       strftime('%Y-%m-%dT%H:%M:%S', start_ns / 1000000000 - (start_ns % 1000000000 < 0), 'unixepoch')
         || printf('.%06dZ', (start_ns % 1000000000 + 1000000000) % 1000000000 / 1000),
       min(events_before) OVER (PARTITION BY input_row, file),
       min(start_ns) OVER (PARTITION BY side, rank), label, tp, pp, dp, ep
FROM (SELECT input.rowid AS input_row, f.rowid AS file_row, side, f.*,
             sum(coalesce(events, 0)) OVER (ORDER BY input.rowid, f.rowid ROWS UNBOUNDED PRECEDING)
               - coalesce(events, 0) AS events_before
      FROM temp.input CROSS JOIN trace_files(path) AS f)
ORDER BY input_row, file_row;

INSERT INTO steps
SELECT s.side, rank, iteration,
       (s.side, rank, iteration) IN (SELECT i.side, t.rank, t.iteration
                                     FROM temp.input AS i CROSS JOIN trace_step_time(i.path, 'all', 'steady') AS t
                                     WHERE t.iteration IS NOT NULL),
       ts, dur, file, ts_ns, dur_ns, name, phase, batch_size, padded_size, tokens, stratum, ts_ns / 1e9,
       strftime('%Y-%m-%dT%H:%M:%S', ts_ns / 1000000000 - (ts_ns % 1000000000 < 0), 'unixepoch')
         || printf('.%06dZ', (ts_ns % 1000000000 + 1000000000) % 1000000000 / 1000)
FROM (SELECT * FROM temp.input CROSS JOIN trace_steps(path)) AS s;

-- 'steady' selects these steps, or all of a trace without steps.
CREATE TEMP TABLE steady AS
SELECT DISTINCT side, rank, iteration FROM steps WHERE is_steady;
CREATE INDEX temp.steady_step ON steady (side, rank, iteration);

INSERT INTO ops
SELECT side, rank, iteration,
       coalesce((side, rank, iteration) IN (SELECT side, rank, iteration FROM temp.steady), 0)
         OR side NOT IN (SELECT side FROM temp.steady),
       device, cat, name, short_name, CASE device WHEN 'GPU' THEN trace_kernel_type(name, cat) END, counts,
       CAST(round(total_duration * 1000) AS INTEGER), CAST(round(self_duration * 1000) AS INTEGER),
       CAST(round(min_duration * 1000) AS INTEGER), CAST(round(max_duration * 1000) AS INTEGER)
FROM temp.input CROSS JOIN trace_ops(path, 'all', 'all');

INSERT INTO step_time
SELECT side, rank, iteration,
       coalesce((side, rank, iteration) IN (SELECT side, rank, iteration FROM temp.steady), 0)
         OR side NOT IN (SELECT side FROM temp.steady),
       class, name, time, time_ns, stratum
FROM temp.input CROSS JOIN trace_step_time(path, 'all', 'all');

DROP TABLE temp.steady;
