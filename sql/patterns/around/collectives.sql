-- collectives: other collectives, in number or in size
-- Rank: 50
-- Said: always
-- Evidence: the collectives of one name run more or less often in every step, or send more or fewer numbers
WITH s AS (SELECT name, total(c * size) AS cs, total(t * size) AS ts FROM sized GROUP BY name),
n AS (
  SELECT op.name, op.c AS c, op.t AS t, cs, ts FROM op LEFT JOIN s USING (name)
  WHERE (op.name GLOB 'nccl:*' OR op.name GLOB 'gloo:*' OR op.name GLOB 'mpi:*')
    AND ((op.c <> op.t AND op.c = round(op.c) AND op.t = round(op.t)) OR abs(ts - cs) > 0.01 * cs)
  ORDER BY abs(op.t - op.c) DESC, abs(ts - cs) DESC, op.name LIMIT 1)
SELECT CASE WHEN c <> t THEN printf('%s runs %g -> %g times per step', n.name, c, t)
  ELSE printf('%s sends other sizes', n.name) END
       || CASE WHEN cs > 0 AND abs(ts - cs) > 0.01 * cs THEN printf(', with %.3g times as many numbers', ts / cs)
         ELSE '' END,
       'DDP: no_sync() in all but the last micro-batch, bucket_cap_mb; FSDP: reshard_after_forward', cause.id
FROM n LEFT JOIN cause ON cause.kind = 'communication'
