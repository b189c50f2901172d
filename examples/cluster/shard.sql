-- What the path of the job asks of a rank (Q7.3), and by it the collectives (W1). Runs after
-- sql/database/summaries.sql, which says what temp.input is.
INSERT INTO job_rows
SELECT side, NULL, kind, rank, iteration, start_ns, end_ns, event, queued_behind, process_group, process_group_ranks,
       name, waits_for_all
FROM temp.input CROSS JOIN trace_job_ranks(path);
