"""Runs HolisticTraceAnalysis itself for test_hta_live.py, with the Python of build/hosts/hta.

    hta_live.py methods              the public methods of its two classes
    hta_live.py pair CONTROL TEST    TraceDiff's calls, for each device type
    hta_live.py one FOLDER...        TraceAnalysis' calls, for each folder
    hta_live.py last FOLDER...       the same, with the last step
    hta_live.py others FOLDER        other defects, on the traces from test_hta_live.py

Prints JSON. A call gives its rows as {column: value}, with the rank where HTA gives a frame per rank, or the name of
the exception that it raised. Columns of two levels are joined by an underscore.
"""
import contextlib
import inspect
import json
import logging
import os
import sys
import tempfile
import warnings

sys.path.remove(os.path.dirname(os.path.abspath(__file__)))  # hta.py in that folder is not HTA
logging.disable(logging.CRITICAL)
warnings.filterwarnings("ignore")

import pandas as pd  # noqa: E402
import plotly.graph_objects as go  # noqa: E402
from hta.analyzers.cuda_kernel_analysis import CudaKernelAnalysis  # noqa: E402
from hta.trace_analysis import TraceAnalysis  # noqa: E402
from hta.trace_diff import DeviceType, LabeledTrace, TraceDiff  # noqa: E402
from hta.utils.utils import shorten_name  # noqa: E402

go.Figure.show = lambda *_, **__: None
# Writes a copy of the trace, which changes no row and takes most of the time.
CudaKernelAnalysis._overlay_frequent_patterns_with_trace = classmethod(lambda *_, **__: {})


def rows(frame, index=False):
    if frame is None:
        return []
    frame = frame.reset_index() if index else frame
    frame.columns = ["_".join(map(str, column)).rstrip("_") if isinstance(column, tuple) else str(column)
                     for column in frame.columns]
    return json.loads(frame.to_json(orient="records", double_precision=15))


def by_rank(frames, index=False):
    frames = [(frame.reset_index() if index else frame).assign(rank=rank) for rank, frame in frames.items()]
    return rows(pd.concat(frames)) if frames else []


def loaded(analysis):
    """The loaded events, each with its place in the file and its times."""
    return [{"rank": rank, "event": event, "ts": ts, "dur": dur} for rank, frame in analysis.t.traces.items()
            for event, ts, dur in zip(frame["index"].tolist(), frame["ts"].tolist(), frame["dur"].tolist())]


def sequences(analysis, ranks, operator_name, min_pattern_len):
    analysis.t.write_raw_trace = lambda *_, **__: None
    with tempfile.TemporaryDirectory() as folder:
        return [row for rank in ranks for row in rows(analysis.get_frequent_cuda_kernel_sequences(
            operator_name, folder, min_pattern_len=min_pattern_len, rank=rank, visualize=False).assign(rank=rank))]


def kernels(a):
    types, names = a.get_gpu_kernel_breakdown(visualize=False)
    return {"gpu_kernel_type_breakdown": rows(types), "gpu_kernel_breakdown": rows(names)}


def idle_times(a, ranks):
    times, intervals = a.get_idle_time_breakdown(ranks=ranks, visualize=False, show_idle_interval_stats=True)
    return {"idle_time_breakdown": rows(times), "idle_interval_stats": rows(intervals, index=True)}


def queues(a, ranks):
    series = a.get_queue_length_time_series(ranks=ranks)
    return {"queue_length_time_series": by_rank(series, index=True),
            "time_spent_blocked_on_full_queue": rows(a.get_time_spent_blocked_on_full_queue(series, 1)),
            "queue_length_summary": rows(a.get_queue_length_summary_from_time_series(series), index=True)}


def calls(a, ranks):
    """Name of tracediff's function, or of HTA's call: HTA's result; for several, their rows by name."""
    quiet = {"visualize": False}
    return {
        "loaded": lambda: loaded(a),
        "temporal_breakdown": lambda: rows(a.get_temporal_breakdown(**quiet)),
        "idle_time_breakdown, idle_interval_stats": lambda: idle_times(a, ranks),
        "gpu_kernel_type_breakdown, gpu_kernel_breakdown": lambda: kernels(a),
        "gpu_user_annotation_breakdown": lambda: rows(a.get_gpu_user_annotation_breakdown(**quiet)),
        "comm_comp_overlap": lambda: rows(a.get_comm_comp_overlap(**quiet)),
        "memory_bw_time_series": lambda: by_rank(a.get_memory_bw_time_series(ranks=ranks)),
        "memory_bw_time_series by default": lambda: by_rank(a.get_memory_bw_time_series()),
        "memory_bw_summary": lambda: rows(a.get_memory_bw_summary(ranks=ranks), index=True),
        "queue_length_time_series, queue_length_summary, time_spent_blocked_on_full_queue": lambda: queues(a, ranks),
        "cuda_kernel_launch_stats": lambda: by_rank(a.get_cuda_kernel_launch_stats(ranks=ranks, **quiet)),
        "aten_op_kernels_and_delay": lambda: by_rank(a.get_aten_op_kernels_and_delay(ranks=ranks)),
        "frequent_cuda_kernel_sequences": lambda: sequences(a, ranks, "aten::", 1),
        "get_potential_stragglers": lambda: a.get_potential_stragglers(**quiet),
        "get_profiler_steps": lambda: [{"iteration": int(step)} for step in a.get_profiler_steps()],
    }


def asked(call):
    try:
        return call()
    except Exception as error:  # HTA raises many kinds
        return type(error).__name__


def one(folder, **options):
    """All calls. Each gets freshly loaded frames, because HTA's calls change them."""
    try:
        analysis = TraceAnalysis(trace_dir=folder, **options)
    except Exception as error:
        return type(error).__name__
    frames = {rank: frame.copy() for rank, frame in analysis.t.traces.items()}
    answers = {}
    for names, call in calls(analysis, sorted(frames)).items():
        analysis.t.traces = {rank: frame.copy() for rank, frame in frames.items()}
        answer = asked(call)
        answers.update(answer if isinstance(answer, dict) else dict.fromkeys(names.split(", "), answer))
    return answers


def pair(control, test):
    def of(device):
        return {"compare_traces": asked(
                    lambda: rows(TraceDiff.compare_traces(control, test, device_type=device), True)),
                "ops_diff": asked(lambda: TraceDiff.ops_diff(control, test, device_type=device))}

    return {device.name: of(device) for device in DeviceType}


def changed_by_passing(folder):
    analysis = TraceAnalysis(trace_dir=folder)
    before = [len(frame) for frame in analysis.t.traces.values()]
    TraceDiff.compare_traces(analysis.t, analysis.t)
    return before, [len(frame) for frame in analysis.t.traces.values()]


def changed_by_analysing(folder):
    analysis = TraceAnalysis(trace_dir=folder)
    before = {rank: frame.copy() for rank, frame in analysis.t.traces.items()}
    for _, call in calls(analysis, sorted(before)).items():
        asked(call)
    return not all(frame.equals(before[rank]) for rank, frame in analysis.t.traces.items())


def written(folder):
    before = set(os.listdir(folder))
    TraceAnalysis(trace_dir=folder).generate_trace_with_counters()
    return sorted(set(os.listdir(folder)) - before)


def others(folder):
    """Evidence of the defects without a switch in hta.py, by number."""
    def at(name):
        return os.path.join(folder, name)

    def analysis(name):
        return TraceAnalysis(trace_dir=at(name))

    shown = {
        "D18": lambda: sorted({int(rank)
                               for rank in LabeledTrace("t", trace_dir=at("three")).extract_ops(rank=[1, 2])["rank"]}),
        "D19": lambda: changed_by_passing(at("three")),
        "D20": lambda: rows(TraceDiff.compare_traces(at("same_name"), at("same_name")), True),
        "D21": lambda: rows(TraceDiff.compare_traces(at("stepless"), at("stepless")), True),
        "D22": lambda: [shorten_name(name) for name in ("f(int) ", "## forward (1) ##")],
        "D31": lambda: [row["s_user_annotation"] for row in rows(
            analysis("annotated").get_gpu_kernels_with_user_annotations(0, expand_names=True))],
        "D32": lambda: [row["aten_op_name"] for row in by_rank(analysis("threads").get_aten_op_kernels_and_delay())],
        "D33": lambda: analysis("nccl").get_potential_stragglers(visualize=False),
        "D34": lambda: written(at("written")),
        "D35": lambda: [sorted(row["name"] for row in rows(analysis("annotated").get_gpu_user_annotation_breakdown(
            visualize=False, num_kernels=1, allowlist_patterns=patterns))) for patterns in (["out.*"], ["outer"])],
        "D37": lambda: changed_by_analysing(at("three")),
        "D38": lambda: rows(analysis("rank3").get_temporal_breakdown())
        and rows(analysis("rank3").get_gpu_kernel_breakdown()[0]),
    }
    return {name: asked(call) for name, call in shown.items()}


def methods():
    return {kind.__name__: [name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")]
            for kind in (TraceDiff, TraceAnalysis)}


def main(command, *arguments):
    commands = {"methods": methods, "pair": pair, "others": others,
                "one": lambda *folders: {folder: one(folder) for folder in folders},
                "last": lambda *folders: {folder: one(folder, include_last_profiler_step=True) for folder in folders}}
    with contextlib.redirect_stdout(sys.stderr):
        answer = commands[command](*arguments)
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
