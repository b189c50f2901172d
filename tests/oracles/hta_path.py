"""HTA's critical path analysis in plain Python, for one host thread: nodes, edges, path and summary.

    graph = Graph(hta_load.load("runs/a"))      # of the only rank, the whole trace
    graph.nodes                                 # [Node], in HTA's order
    graph.edges                                 # {(begin, end): (type, weight in us, index of the event or None)}
    graph.path                                  # numbers of nodes
    graph.breakdown(), graph.summary()          # the bounds of the path

tracediff follows rules P1 to P8 instead; D36 names the differences. Times are microseconds.
"""
from collections import Counter, defaultdict
from typing import NamedTuple

BLOCKING = {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventQuery", "cudaEventSynchronize", "cudaMemcpy",
            "cudaMemcpyAsync"}
LOCKED = {"cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync"}  # calls that lock the runtime
LONGEST_GAP = 1500
BOUND = {"kernel_kernel_delay": "gpu_kernel_kernel_overhead", "kernel_launch_delay": "gpu_kernel_launch_overhead",
         "dependency": "", "sync_dependency": ""}


class Node(NamedTuple):
    event: int
    time: int
    is_start: bool
    is_blocking: bool


def us(ns):
    return ns // 1000


class Graph:
    def __init__(self, trace):
        rows = next(iter(trace.ranks.values())).rows
        self.rows = {row.event: row for row in rows}
        host = [row for row in rows if row.stream is None and row.dur_ns > 0]
        launches = {row.event for row in host}
        self.device = [row for row in rows if row.stream is not None and (
            row.link is not None and row.link.event in launches or row.name == "Stream Wait Event")]
        self.streams = [row for row in self.device if row.cat != "cuda_sync"]
        self.find_nodes([row for row in host if row.cat in ("cpu_op", "cuda_runtime", "cuda_driver")])
        self.edges, self.before = {}, defaultdict(list)
        self.connect_host()
        self.connect_device()
        self.path = self.longest_path()

    def find_nodes(self, host):
        nodes = []
        for row in host + self.device:
            blocking = row.name in BLOCKING
            nodes += [Node(row.event, us(row.ts_ns), True, blocking), Node(row.event, us(row.end_ns), False, blocking)]
        self.nodes = sorted(nodes, key=lambda node: (node.time, node.event))
        self.start, self.end = ({node.event: number for number, node in enumerate(self.nodes) if node.is_start is start}
                                for start in (True, False))

    def add(self, begin, end, kind, weight=None, event=None):
        if weight is None:
            weight = self.nodes[end].time - self.nodes[begin].time
        self.edges[begin, end] = kind, weight, event
        self.before[end].append(begin)

    def connect_host(self):
        """Connects each start and end of a call or operator to the next one. The edge is a part of the event around
        both; between outermost events it is a dependency without weight, whatever the distance.
        """
        device, opened, last = {row.event for row in self.device}, [], None
        for number, node in enumerate(self.nodes):
            if node.event in device:
                continue
            if last is not None and not opened:
                self.add(last, number, "dependency", 0)
            elif last is not None:
                waits = not node.is_start and node.is_blocking and self.rows[node.event].name not in LOCKED
                self.add(last, number, "operator", 0 if waits else None, opened[-1])
            if node.is_start:
                opened.append(node.event)
            else:
                opened.remove(node.event)
            last = number

    def queued(self):
        """{event: [launched but not started work on its stream, after its launch and after its start]}"""
        lengths, queue = defaultdict(list), Counter()
        points = [(row.link.ts_ns, 1, row) for row in self.streams] + [(row.ts_ns, -1, row) for row in self.streams]
        for _, change, row in sorted(points, key=lambda point: point[0]):
            queue[row.stream] += change
            lengths[row.event].append(queue[row.stream])
        return lengths

    def connect_device(self):
        lengths, last = self.queued(), {}
        for row in sorted(self.device, key=lambda row: row.end_ns if row.cat == "cuda_sync" else row.ts_ns):
            if row.name in ("Stream Sync", "Context Sync"):
                for stream, work in last.items():
                    if row.name == "Context Sync" or stream == row.stream:
                        self.add(self.end[work.event], self.end[row.link.event], "sync_dependency", 0)
            if row.cat == "cuda_sync":
                continue
            self.add(self.start[row.event], self.end[row.event], "operator", None, row.event)
            before, launch = last.get(row.stream), row.link
            if lengths[row.event] == [1, 0] and (before is None or before.end_ns < launch.ts_ns):
                self.add(self.start[launch.event], self.start[row.event], "kernel_launch_delay")
            elif before is not None and us(row.ts_ns - before.end_ns) < LONGEST_GAP:
                self.add(self.end[before.event], self.start[row.event], "kernel_kernel_delay", None, before.event)
            last[row.stream] = row

    def longest_path(self):
        """Among paths of equal length, the first one found, like in networkx."""
        length, come_from = {}, {}
        for number in range(len(self.nodes)):
            ways = [(length[begin] + self.edges[begin, number][1], begin) for begin in self.before[number]]
            length[number], come_from[number] = max(ways, key=lambda way: way[0], default=(0, None))
        path = [max(length, key=length.get)]
        while come_from[path[-1]] is not None:
            path.append(come_from[path[-1]])
        return path[::-1]

    def breakdown(self):
        """[(event or None, us, bound_by)] by edge of the path."""
        for edge in zip(self.path, self.path[1:]):
            kind, weight, event = self.edges[edge]
            by_kernel = kind == "operator" and self.rows[event].stream is not None
            yield event, weight, BOUND.get(kind, "gpu_compute_bound" if by_kernel else "cpu_bound")

    def summary(self):
        time = Counter()
        for _, weight, bound in self.breakdown():
            time[bound] += weight
        return {bound: 100 * part / sum(time.values()) for bound, part in time.items()}
