"""Jobs that hang, in the dumps of their ranks' flight recorders. Hosts call ops in order, and devices run them one
after the other, each op once it is the next one on all participants. One rank has a fault.

    generate_hangs.py FOLDER [SEED] writes the dumps of a job, and prints its fault
    generate_hangs.py FOLDER RANKS ENTRIES writes RANKS dumps of ENTRIES calls each, the last of which hangs
"""
import json
import os
import pickle
import random
import sys

START, STEP_NS, TIMEOUT_MS = 1_790_000_000_000_000_000, 1_000_000, 600_000
STRICT = ("all_reduce", "_all_gather_base", "_reduce_scatter_base", "barrier")
# Possible faults. For those in CANNOT_BE_TOLD, no rank may be named.
FAULTS = ("never called", "never called", "never called p2p", "device stuck", "not started", "other op", "other size",
          "other dtype", "skipped call", "swapped calls", "device no timing", "crashed", "gloo")
CANNOT_BE_TOLD = ("device no timing", "crashed", "gloo")


class Call:
    """An op in a rank's program; a batch has several sends and recvs in `parts`."""

    def __init__(self, group, op, at, size=64, dtype="Float", peer=None, parts=(), sync=False):
        self.group, self.op, self.at, self.size, self.dtype = group, op, at, size, dtype
        self.peer, self.parts, self.sync = peer, parts, sync
        self.seq = self.state = self.created = None

    @property
    def p2p(self):
        return self.op in ("send", "recv") or bool(self.parts)


class Rank:
    def __init__(self, number, program):
        self.number, self.program = number, program
        self.called, self.stuck_host = [], False
        self.seqs, self.p2p_seqs = {}, {}
        self.done = 0  # calls, by the device


class Job:
    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.fault = rng.choice(FAULTS)
        while True:
            self.tp, self.pp, self.dp = (rng.choice(sizes) for sizes in ((1, 1, 2, 4), (1, 1, 2, 4), (1, 2, 3, 4, 8)))
            self.count = self.tp * self.pp * self.dp
            if 2 <= self.count <= 64 and (self.fault != "never called p2p" or self.pp > 1):
                break
        self.backend = "gloo" if self.fault == "gloo" else "nccl"
        self.timing = self.fault in ("not started",) or self.fault != "device no timing" and rng.random() < 0.3
        self.batches = rng.random() < 0.5
        self.frames = rng.random() < 0.8
        self.make_groups()
        self.steps = rng.choice((2, 3, 4, 8))
        self.ranks = [Rank(number, self.program(number)) for number in range(self.count)]
        self.plant()
        self.run()
        self.keep()

    # --- The program

    def make_groups(self):
        """{name: (description, ranks)}"""
        tp, pp, dp = self.tp, self.pp, self.dp
        at = lambda p, d, t: (p * dp + d) * tp + t
        kinds = [("DATA_PARALLEL_GROUP", [[at(p, d, t) for d in range(dp)] for p in range(pp) for t in range(tp)], dp),
                 ("TENSOR_MODEL_PARALLEL_GROUP", [[at(p, d, t) for t in range(tp)]
                                                  for p in range(pp) for d in range(dp)], tp),
                 ("PIPELINE_MODEL_PARALLEL_GROUP", [[at(p, d, t) for p in range(pp)]
                                                    for d in range(dp) for t in range(tp)], pp)]
        self.groups = {"0": ("default_pg", list(range(self.count)))}
        for description, sets, size in kinds:
            if size > 1:
                for ranks in sets:
                    self.groups[str(len(self.groups))] = (description, ranks)

    def group_of(self, rank, description):
        for name, (own, ranks) in self.groups.items():
            if own == description and rank in ranks:
                return name
        return None

    def program(self, rank):
        """The ops of all steps in order; a call with `sync` waits for the earlier ones."""
        choices = random.Random(f"{self.steps}/{self.count}")  # equal on all ranks
        tensor = self.group_of(rank, "TENSOR_MODEL_PARALLEL_GROUP")
        data = self.group_of(rank, "DATA_PARALLEL_GROUP")
        pipe = self.group_of(rank, "PIPELINE_MODEL_PARALLEL_GROUP")
        stage = rank // (self.dp * self.tp)
        calls = []
        for step in range(self.steps):
            if pipe and stage > 0:
                calls.append(Call(pipe, "recv", "recv_forward", 512, "BFloat16", stage - 1))
            if tensor:
                calls += [Call(tensor, "_all_gather_base", "forward", 256, "BFloat16"),
                          Call(tensor, "_reduce_scatter_base", "forward", 512, "BFloat16")]
            if pipe:
                calls += self.middle(pipe, stage, self.pp)
            if tensor:
                calls.append(Call(tensor, "all_reduce", "backward", 256, "BFloat16"))
            if pipe and stage > 0:
                calls.append(self.maybe_batch(Call(pipe, "send", "send_backward", 512, "BFloat16", stage - 1)))
            if data:
                calls += [Call(data, "all_reduce", "grad_hook", 4096),
                          Call(data, choices.choice(("_all_gather_base", "broadcast", "all_to_all")), "optimizer",
                               2048)]
            calls.append(Call("0", choices.choice(("all_reduce", "all_reduce", "barrier")), "log_loss", 1,
                              sync=choices.random() < 0.7))
            calls[-1].size = 0 if calls[-1].op == "barrier" else 1
        return calls

    def middle(self, pipe, stage, stages):
        """What a stage sends forward and gets back."""
        if stage == stages - 1:
            return []
        send = Call(pipe, "send", "send_forward", 512, "BFloat16", stage + 1)
        back = Call(pipe, "recv", "recv_backward", 512, "BFloat16", stage + 1)
        return [self.maybe_batch(send), back]

    def maybe_batch(self, call):
        if not self.batches:
            return call
        return Call(call.group, "coalesced", call.at, parts=(call,))

    # --- The fault

    def plant(self):
        """Chooses the rank and the call of the fault, in the second half of the rank's program."""
        rng, places = self.rng, []
        order = rng.sample(range(self.count), self.count)
        while not places:
            if not order:  # no call of this job can have the fault
                self.fault, order = "never called", [0]
            self.culprit = order.pop()
            program = self.ranks[self.culprit].program
            first = len(program) // self.steps  # ensures that some calls complete
            places = [i for i in range(first, len(program)) if self.fits(program, i)]
        i, fault = rng.choice(places), self.fault
        self.at, call = i, program[i]
        if fault == "other op":
            call.op = "broadcast" if call.op != "broadcast" else "all_reduce"
        elif fault == "other size":
            call.size += 24
        elif fault == "other dtype":
            call.dtype = "Half"
        elif fault == "skipped call":
            del program[i]
        elif fault == "swapped calls":
            program[i], program[i + 1] = program[i + 1], program[i]
        self.told = fault not in CANNOT_BE_TOLD + ("skipped call", "swapped calls")
        if fault.startswith("other"):
            self.told = len(self.groups[call.group][1]) > 2

    def fits(self, program, i):
        call = program[i]
        if self.fault == "never called p2p":
            return call.p2p
        if self.fault in ("device stuck", "not started", "skipped call", "device no timing"):
            return not call.p2p
        if self.fault.startswith("other"):
            return call.op not in ("barrier", "all_to_all") and not call.p2p
        if self.fault == "swapped calls":
            return i + 1 < len(program) and not call.p2p and not program[i + 1].p2p \
                and call.group != program[i + 1].group
        return True

    # --- Simulation

    def run(self):
        """Calls and runs ops until no progress is possible."""
        self.clock = 0
        progress = True
        while progress:
            progress = any([self.call_on(rank) for rank in self.ranks])
            self.clock += 1
            progress |= any([self.complete_next(rank) for rank in self.ranks])

    def call_on(self, rank):
        """The host calls ops until it waits for one, or is stuck; returns whether it called any."""
        before = len(rank.called)
        while len(rank.called) < len(rank.program):
            call = rank.program[len(rank.called)]
            index = len(rank.called)
            stops = self.fault in ("never called", "never called p2p", "crashed", "gloo")
            if stops and rank.number == self.culprit and index == self.at:
                break
            waited = [i for i in range(index) if rank.program[i].sync]
            if waited and rank.done <= waited[-1]:
                break
            call.created = self.clock
            if call.p2p:
                call.seq = rank.p2p_seqs[call.group] = rank.p2p_seqs.get(call.group, 0) + 1
                for part in call.parts:
                    part.created, part.seq = self.clock, call.seq
            else:
                call.seq = rank.seqs[call.group] = rank.seqs.get(call.group, 0) + 1
            call.state = "scheduled"
            rank.called.append(call)
        return len(rank.called) > before

    def next_of(self, rank):
        return rank.called[rank.done] if rank.done < len(rank.called) else None

    def is_stuck(self, rank, call):
        return rank.number == self.culprit and call is rank.program[min(self.at, len(rank.program) - 1)]

    def complete_next(self, rank):
        call = self.next_of(rank)
        if call is None:
            return False
        parties = self.parties(rank, call)
        if parties is None:
            return False
        no_start = [r for r, c in parties if self.fault in ("not started", "device no timing") and self.is_stuck(r, c)]
        if no_start:
            for other, own in parties:
                own.state = own.state if other in no_start or not self.timing else "started"
            return False
        moved = False
        for other, own in parties:
            if own.state == "completed" or self.next_of(other) is not own:
                continue
            if self.fault == "device stuck" and self.is_stuck(other, own):
                own.state = "started" if self.timing else "scheduled"
                continue
            own.state, own.completed = "completed", self.clock
            other.done += 1
            moved = True
        return moved

    def parties(self, rank, call):
        """(rank, call) of all participants, if it is the next call of each; otherwise None."""
        if call.p2p:
            part = call.parts[0] if call.parts else call
            other = self.ranks[self.groups[call.group][1][part.peer]]
            theirs = self.next_of(other)
            if theirs is None or not theirs.p2p or theirs.group != call.group:
                return None
            back = theirs.parts[0] if theirs.parts else theirs
            own_place = self.groups[call.group][1].index(rank.number)
            fits = back.peer == own_place and {part.op, back.op} == {"send", "recv"}
            return [(rank, call), (other, theirs)] if fits else None
        found = []
        for number in self.groups[call.group][1]:
            other = self.ranks[number]
            theirs = self.next_of(other)
            if theirs is None or theirs.p2p or (theirs.group, theirs.seq, theirs.op, theirs.size, theirs.dtype) != \
                    (call.group, call.seq, call.op, call.size, call.dtype):
                done = [c for c in other.called if not c.p2p and c.group == call.group and c.seq == call.seq]
                if self.fault != "device stuck" or not done or done[0].state != "completed":
                    return None
                theirs = done[0]
            found.append((other, theirs))
        return found

    # --- The dumps

    def hangs(self):
        return any(rank.done < len(rank.called) for rank in self.ranks)

    def keep(self):
        rng = self.rng
        self.active_only = self.backend == "nccl" and rng.random() < 0.15
        self.buffer = rng.choice((None, None, None, 40, 16)) if not self.active_only else None
        self.late_abort = self.backend == "nccl" and not self.timing and not self.active_only and rng.random() < 0.15
        self.dumps = {rank.number: self.dump(rank) for rank in self.ranks
                      if self.fault != "crashed" or rank.number != self.culprit}

    def needed(self):
        """The ranks whose dumps are needed to identify the culprit: for a call that all must have made, all ranks."""
        if self.fault.startswith("never"):
            return {self.culprit} if self.count > 4 else set(range(self.count))
        return set(self.groups[self.ranks[self.culprit].program[self.at].group][1])

    def plain(self):
        """Whether each dump is complete."""
        return not self.active_only and all(not dump["entries"] or dump["entries"][0]["record_id"] == 0
                                            for dump in self.dumps.values())

    def frames_of(self, call):
        lines = {"forward": 30, "backward": 40, "grad_hook": 55, "optimizer": 70, "log_loss": 80}
        return [{"name": call.op.strip("_"), "line": 2800,
                 "filename": "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py"},
                {"name": call.at, "filename": "/job/train.py", "line": lines.get(call.at, 20)},
                {"name": "main", "filename": "/job/train.py", "line": 100}]

    def entry(self, rank, call, record, ids, closing=None):
        """An entry; a part of a batch carries the call that closes the batch."""
        state = "scheduled" if closing else call.state
        done = state == "completed"
        created = START + call.created * STEP_NS + record
        name = call.op
        if call.op in ("send", "recv"):
            own = self.groups[call.group][1].index(rank.number)
            name = f"{call.op} {own}{'->' if call.op == 'send' else '<-'}{call.peer}"
        sizes = [] if call.op in ("barrier", "coalesced") else [[call.size]]
        types = [call.dtype] if sizes else []
        ids[call.group] = ids.get(call.group, 0) + 1
        made = {"record_id": record, "pg_id": self.local_ids(rank)[call.group],
                "process_group": (call.group, self.groups[call.group][0]),
                "collective_seq_id": rank_seq(rank, call), "p2p_seq_id": call.seq if call.p2p else 0,
                "op_id": ids[call.group], "profiling_name": f"{self.backend}:{name}", "time_created_ns": created,
                "input_sizes": sizes, "input_dtypes": types, "output_sizes": sizes, "output_dtypes": types,
                "state": "scheduled" if self.backend == "gloo" else state,
                "time_discovered_started_ns":
                    created + 100 if self.timing and state in ("started", "completed") else None,
                "time_discovered_completed_ns":
                    START + call.completed * STEP_NS + 500_000 if done and self.backend == "nccl" else None,
                "retired": done, "timeout_ms": TIMEOUT_MS, "is_p2p": call.p2p,
                "thread_name": "python", "thread_id": "1"}
        if self.frames:
            made["frames"] = self.frames_of(call)
        return made

    def local_ids(self, rank):
        own = [name for name in self.groups if rank.number in self.groups[name][1]]
        return {name: i for i, name in enumerate(sorted(own, key=int))}

    def dump(self, rank):
        entries, ids, timed_out = [], {}, False
        for call in rank.called:
            made = [self.entry(rank, part, len(entries) + i, ids, call) for i, part in enumerate(call.parts)]
            made.append(self.entry(rank, call, len(entries) + len(made), ids))
            if call.state != "completed" and self.backend == "nccl":
                made[-1]["retired"] = made[-1]["retired"] or not timed_out
                timed_out = True
                if self.late_abort:
                    made[-1].update(state="completed", retired=True, time_discovered_completed_ns=(
                        made[-1]["time_created_ns"] + (TIMEOUT_MS + 5000) * 1_000_000))
            entries += made
        status = {}
        for name, number in self.local_ids(rank).items():
            calls = [call for call in rank.called if call.group == name]
            done = [call.seq for call in calls if call.state == "completed"]
            status[str(number)] = {"last_enqueued_collective": max([call.seq for call in calls], default=-1),
                                   "last_started_collective": -1,
                                   "last_completed_collective": max(done, default=-1)}
        if self.active_only:
            entries = [entry for entry in entries if not entry["retired"] or entry["state"] != "completed"]
        if self.buffer:
            entries = entries[-self.buffer:]
        config = {name: {"name": name, "desc": self.groups[name][0], "ranks": str(self.groups[name][1])}
                  for name in self.local_ids(rank)}
        if self.backend == "gloo":
            config = {"": {"name": "", "desc": "", "ranks": "[0, 1]"}}
        return {"version": "2.10", "pg_config": config, "pg_status": status, "comm_lib_version": "2.27.3",
                "entries": entries}


def rank_seq(rank, call):
    """The number of collectives of the group at the time of the call, like in its entry."""
    if not call.p2p:
        return call.seq
    seq = 0
    for other in rank.called:
        if other is call or call in other.parts:
            break
        seq = other.seq if other.group == call.group and not other.p2p else seq
    return seq


def write(dumps, folder, as_json=False):
    """Writes dumps under PyTorch's names: pickles, or JSON, where no time is 0."""
    os.makedirs(folder, exist_ok=True)
    for rank, dump in dumps.items():
        name = os.path.join(folder, f"nccl_trace_rank_{rank}{'.json' if as_json else ''}")
        if as_json:
            text = json.dumps(dump).replace('_ns": null', '_ns": 0')
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
        else:
            with open(name, "wb") as file:
                pickle.dump(dump, file, protocol=2)


def hung_job(seed):
    """The first job from this seed on that hangs; skipping a call at the end may block nobody."""
    job = Job(seed)
    while not job.hangs():
        seed += 1_000_000
        job = Job(seed)
    return job


def large(folder, count, entries):
    """Dumps of many calls, of which rank count // 2 did not make the last one."""
    frames = [{"name": f"f{i}", "filename": f"/job/x{i % 7}.py", "line": 7 * i} for i in range(60)]
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(count)))}}
    for rank in range(count):
        calls = []
        for i in range(entries - (rank == count // 2)):
            hung, created = i == entries - 1, START + i * STEP_NS
            sizes = [[4096, 1 + i % 3]]
            calls.append({"record_id": i, "pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": i + 1,
                          "p2p_seq_id": 0, "op_id": i + 1, "profiling_name": "nccl:all_reduce",
                          "time_created_ns": created, "input_sizes": sizes, "input_dtypes": ["Float"],
                          "output_sizes": list(sizes), "output_dtypes": ["Float"],
                          "state": "scheduled" if hung else "completed",
                          "time_discovered_started_ns": None if hung else created + 100,
                          "time_discovered_completed_ns": None if hung else created + 500,
                          "duration_ms": 0.25, "retired": True, "timeout_ms": TIMEOUT_MS, "is_p2p": False,
                          "thread_name": "python", "thread_id": str(rank), "frames": [frames[(i + j) % 60]
                                                                                      for j in range(12)]})
        status = {"last_enqueued_collective": len(calls), "last_started_collective": -1,
                  "last_completed_collective": entries - 1}
        write({rank: {"version": "2.10", "pg_config": config, "pg_status": {"0": status},
                      "comm_lib_version": "2.27.3", "entries": calls}}, folder)


if __name__ == "__main__":
    if len(sys.argv) > 3:
        large(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        made = hung_job(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
        write(made.dumps, sys.argv[1])
        print(f"{made.fault} on rank {made.culprit} of {made.count}, call {made.at}")
