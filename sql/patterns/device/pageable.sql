-- pageable: batches are copied from memory that is not pinned, or are pinned now
-- Rank: 22
-- Said: always
-- Evidence: copies between host and device: pinned copies were replaced by the same number of pageable copies
WITH n AS (
  SELECT b.t - b.c AS d, p.ct + b.ct AS ct, p.tt + b.tt AS tt
  FROM op AS p JOIN op AS b ON b.name = replace(p.name, 'Pinned', 'Pageable')
  WHERE p.name GLOB 'Memcpy HtoD (Pinned*' AND p.t - p.c = b.c - b.t AND b.t <> b.c AND min(p.c, p.t) = 0)
SELECT CASE WHEN d > 0 THEN printf('copies from the host are no longer pinned: %.2f -> %.2f ms', ct / 1000,
  tt / 1000)
            ELSE printf('copies from the host are pinned now: %.2f -> %.2f ms', ct / 1000, tt / 1000) END,
       CASE WHEN d > 0 THEN 'DataLoader(pin_memory=True), .to(device, non_blocking=True)' END, cause.id
FROM n LEFT JOIN cause ON cause.class = 'memory' AND cause.id IN (
  SELECT id FROM cause_op WHERE name IN ('aten::to', 'aten::copy_', 'aten::_to_copy', 'aten::cuda'))
