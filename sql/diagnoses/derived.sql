-- derived: facts that follow from other facts.
-- host events within an annotation, and within an outermost operator, which is the name of most causes
CREATE VIEW inside AS SELECT area, name, sum(c) AS c, sum(t) AS t FROM host WHERE area IS NOT NULL AND name <> area
  GROUP BY 1, 2;
CREATE TABLE under AS SELECT top_op, name, sum(c) AS c, sum(t) AS t FROM host WHERE top_op IS NOT NULL GROUP BY 1, 2;
-- operators by shapes and types; on a device, only operators that launch work. dims: shape of the first tensor; size:
-- its number of elements
CREATE TABLE sized AS SELECT name, shapes, types, n.c, n.t, n.ct, n.tt, size, dims FROM (
  SELECT min(row) AS row, sum(c) AS c, sum(t) AS t, sum(ct) AS ct, sum(tt) AS tt FROM (
    SELECT min(rowid) AS row, id1, id2, id3, max(c) AS c, max(t) AS t, sum(ct) AS ct, sum(tt) AS tt FROM launched
      GROUP BY id0, id1, id2, id3)
  GROUP BY id1, id2, id3) AS n JOIN launched ON launched.rowid = n.row;
-- alike: share of the operator names that both sides have; within: the same share for the side with fewer names, if it
-- has ten; even: share of the names that run equally often
UPDATE pair SET (alike, within, even) = (
  SELECT 1.0 * sum(c > 0 AND t > 0) / count(*),
         CASE WHEN min(sum(c > 0), sum(t > 0)) >= 10 THEN 1.0 * sum(c > 0 AND t > 0) / min(sum(c > 0), sum(t > 0)) END,
         1.0 * sum(c = t) / count(*)
  FROM op WHERE name GLOB 'aten::*' OR NOT EXISTS (SELECT 1 FROM op WHERE name GLOB 'aten::*'));
