-- facts: the tables that patterns ask. Counts (c, t) and times (ct, tt, us) are of one step of control and test;
-- without steps, of the whole trace. Of a job, they are of its lowest rank, but for causes, which are of its path.
BEGIN;
-- one row: the lengths of a step, their difference (gap, us), whether it is clear (slower or faster) and sure (and of
-- two steps or more a side), which sides have no device work, whether the devices have different names, how many steps
-- are left out as outliers, and the ranks whose events facts are
CREATE TABLE pair(control_ms, test_ms, gap, control_steps, test_steps, strata, is_job, control_of_host, test_of_host,
                  of_host, is_clear, is_sure, other_device, control_left_out, test_left_out, control_rank,
                  test_rank, alike, within, even);
-- the causes of trace_step_causes, without those that are merged; is_again: the backward pass computes it again
CREATE TABLE cause(id INTEGER PRIMARY KEY, kind, class, area, name, added, removed, control_time, test_time, diff_time,
                   rank, text, is_again);
-- the operators of a cause, without the autograd engine's prefix
CREATE TABLE cause_op(id, name);
-- events of trace_diff, by name
CREATE TABLE op(name PRIMARY KEY, device, c, t, ct, tt) WITHOUT ROWID;
-- operators by outermost operator, shapes, types and kernel, with numbers of the first four: see sized
CREATE TABLE launched(id0, id1, id2, id3, name, shapes, types, c, t, ct, tt, size, dims);
-- host events, without calls into the runtime, by the annotation and the outermost operator that they are in
CREATE TABLE host(area, top_op, name, c, t);
-- device work
CREATE TABLE kernel(top_op, op, name, type, shapes, types, c, t, ct, tt);
-- the same by stream, if both sides copy to the device
CREATE TABLE stream(name, type, stream, c, t, ct, tt);
-- rows of trace_comparability; factors of kernels, by rank of a job
CREATE TABLE note(topic, item, control_value, test_value, same);
CREATE TABLE clock(rank, outcome, factor);
