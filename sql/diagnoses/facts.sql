-- facts: the tables that patterns query. Counts (c, t) and times (ct, tt, in us) are per step of control and test, or
-- per trace without steps. For a job, causes are from its path, and all other facts from its lowest rank.
BEGIN;
-- one row: the mean steps and their difference (gap, us); is it clear (slower or faster) and sure (also two steps or
-- more per side); which sides have no device work; do the devices have different names; number of steps left out as
-- outliers; and the ranks that the facts are from
CREATE TABLE pair(control_ms, test_ms, gap, control_steps, test_steps, strata, is_job, control_of_host, test_of_host,
                  of_host, is_clear, is_sure, other_device, control_left_out, test_left_out, control_rank,
                  test_rank, alike, within, even);
-- the causes of trace_step_causes, unmerged; is_again: the backward pass computes it again
CREATE TABLE cause(id INTEGER PRIMARY KEY, kind, class, area, name, added, removed, control_time, test_time, diff_time,
                   rank, text, is_again);
-- the operators of a cause, without the autograd engine's prefix
CREATE TABLE cause_op(id, name);
-- events of trace_diff, by name
CREATE TABLE op(name PRIMARY KEY, device, c, t, ct, tt) WITHOUT ROWID;
-- operators by outermost operator, shapes, types and kernel, with numbers of the first four: see sized
CREATE TABLE launched(id0, id1, id2, id3, name, shapes, types, c, t, ct, tt, size, dims);
-- host events, except runtime calls, by the annotation and the outermost operator around them
CREATE TABLE host(area, top_op, name, c, t);
-- device work
CREATE TABLE kernel(top_op, op, name, type, shapes, types, c, t, ct, tt);
-- the same by stream, if both sides copy to the device
CREATE TABLE stream(name, type, stream, c, t, ct, tt);
-- rows of trace_comparability; factors of kernels, by rank of a job
CREATE TABLE note(topic, item, control_value, test_value, same);
CREATE TABLE clock(rank, outcome, factor);
