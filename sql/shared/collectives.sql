-- collectives: collectives matched across ranks (W2 to W4), in the CTE `matched`. The query or database that uses it
-- provides device_collective and host_collective, the collectives of W1; one of them is empty for each side. It also
-- provides clock, with the offsets of Q3 by side, rank and step (the iteration, or 'none'). host_collective has all
-- collectives of the host, and is_chosen marks the chosen ones. event is the position in the file. In
-- device_collective, bytes follow W6, and about is any number of the query; matched has the number of the lowest rank.
WITH covered AS ( -- busy_ns: the latest end of earlier collectives of the rank
  SELECT side, rank, iteration, process_group, name, start_ns, end_ns, is_chosen,
         max(end_ns) OVER (PARTITION BY side, rank ORDER BY start_ns, end_ns, iteration, event
                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS busy_ns
  FROM host_collective),
collective AS (
  SELECT side, rank, iteration, process_group, name, start_ns, end_ns, NULL AS busy_ns, 0 AS on_host, bytes, about
  FROM device_collective
  UNION ALL
  SELECT side, rank, iteration, process_group, name, start_ns, end_ns, busy_ns, 1, NULL, NULL
  FROM covered
  WHERE is_chosen),
numbered AS (
  SELECT c.side, iteration, process_group, name, c.rank, start_ns - coalesce(offset_ns, 0) AS ts_ns,
         end_ns - start_ns AS dur_ns, max(0, coalesce(busy_ns - start_ns, 0)) AS busy_ns, on_host, bytes, about,
         row_number() OVER (PARTITION BY c.side, c.rank, iteration, process_group ORDER BY start_ns, end_ns, name) - 1
           AS seq
  FROM collective AS c
  LEFT JOIN clock ON clock.side = c.side AND clock.rank = c.rank AND clock.step = coalesce(iteration, 'none')),
placed AS (
  SELECT side, iteration, process_group, seq, rank, ts_ns, dur_ns, busy_ns, on_host, bytes,
         first_value(name) OVER of_all AS first_name, first_value(about) OVER of_all AS about,
         max(ts_ns) OVER of_all AS last_ns
  FROM numbered
  WINDOW of_all AS (PARTITION BY side, iteration, process_group, seq
                    ORDER BY rank ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)),
matched AS (
  SELECT side, iteration, process_group, min(first_name) AS name, seq,
         count(*) AS rank_count, min(dur_ns) / 1000.0 AS transfer,
         max(0, max(dur_ns - busy_ns) - min(dur_ns)) / 1000.0 AS max_wait,
         CASE WHEN count(*) > 1 AND max(ts_ns + dur_ns) - min(ts_ns + dur_ns)
                                    <= max(min(dur_ns), (max(dur_ns - busy_ns) - min(dur_ns)) / 2 * max(on_host))
              THEN min(rank) FILTER (WHERE ts_ns = last_ns) END AS last_rank,
         (max(ts_ns + dur_ns) - min(ts_ns + dur_ns)) / 1000.0 AS spread_end, max(bytes) AS bytes, min(about) AS about
  FROM placed
  GROUP BY side, iteration, process_group, seq),
