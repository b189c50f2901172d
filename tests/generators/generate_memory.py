"""Random snapshots of PyTorch's allocator, from a small allocator that tracks segments and blocks, so that the final
blocks are the open ones. They have several devices, rings cut anywhere, reused addresses, maps and unmaps, segments
that were not recorded, blocks without frames, and old layouts.

    generate_memory.py FILE EVENTS FRAMES writes a large one with FRAMES shared frames per list; prints its peak
"""
import gzip
import json
import pickle
import random
import sys

FRAMES = [
    ("torch::unwind::unwind()", "??", 0),
    ("at::_ops::empty_strided::redispatch(c10::DispatchKeySet, long)", "??", 0),
    ("at::_ops::empty_strided::call(long)", "??", 0),
    ("at::_ops::empty_memory_format::call(long)", "??", 0),
    ("at::_ops::new_empty::call(at::Tensor const&)", "??", 0),
    ("at::_ops::new_empty_strided::call(at::Tensor const&)", "??", 0),
    ("at::_ops::resize_::call(at::Tensor const&)", "??", 0),
    ("at::_ops::set__source_Storage::call(at::Tensor&)", "??", 0),
    ("at::_ops::emptyish::call(at::Tensor&)", "??", 0),
    ("at::_ops::mm::redispatch(c10::DispatchKeySet, at::Tensor const&)", "??", 0),
    ("at::_ops::add_Tensor::call(at::Tensor const&)", "??", 0),
    ("at::_ops::add_Tensor::other(at::Tensor const&)", "??", 0),
    ("at::_ops::linear::call(at::Tensor const&)", "??", 0),
    ("torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>)", "??", 0),
    ("torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>)", "??", 0),
    ("torch::autograd::Engine::evaluate_function(std::shared_ptr<GraphTask>&)", "??", 0),
    ("forward", "/home/me/model/layers.py", 12),
    ("forward", "/home/me/model/layers.py", 13),
    ("<module>", "train.py", 7),
    ("loss", "/opt/venv/lib/python3.11/helpers/loss.py", 3),
    ("step", "/opt/venv/lib/python3.11/site-packages/torch/optim/adamw.py", 40),
    ("step", "/src/torch/optim/sgd.py", 5),
    ("helper", "/src/torch/optim/inner/helper.py", 6),
    ("linear", "/usr/lib/python3/dist-packages/thing/linear.py", 8),
    ("<lambda>", "<stdin>", 1),
    ("call", "<eval_with_key>.3", 2),
    ("main", "/srv/torchless/main.py", 99),
    ("forward", "D:\\me\\model\\layers.py", 14),
    ("einsum", "C:\\me\\env\\Lib\\site-packages\\torch\\functional.py", 7),
    ("step", "C:\\me/env/Lib/site-packages\\torch\\optim\\sgd.py", 5),
    ("inner", "C:\\Python311\\lib\\contextlib.py", 81),
    ("", "", 0),
]


class Device:
    """An allocator of one device, and its events."""

    def __init__(self, rng, number, frames, times, recorded):
        self.rng, self.number, self.frames, self.times, self.recorded = rng, number, frames, times, recorded
        self.segments, self.events, self.now = [], [], 1_700_000_000_000_000 + rng.randrange(1000)
        self.base = 1 << 40
        self.free_addresses = []

    def stack(self):
        if self.rng.random() < 0.1:
            return None
        return self.frames[self.rng.randrange(len(self.frames))]

    def event(self, action, addr, size, **more):
        self.now += self.rng.randrange(3)
        made = {"action": action, "addr": addr, "size": size, "stream": self.rng.choice([0, 0, 7])}
        if self.times:
            made["time_us"] = self.now
        frames = self.stack()
        if frames is not None:
            made["frames"] = frames
        made.update(more)
        self.events.append(made)

    def segment(self, room):
        """A new segment with one free block, mostly at a former place."""
        size = max(room, self.rng.choice([2048, 4096, 20480]))
        for i, (address, old) in enumerate(self.free_addresses):
            if old >= size:
                size = old
                del self.free_addresses[i]
                break
        else:
            address, self.base = self.base, self.base + size
        expandable = self.rng.random() < 0.3
        if self.recorded:
            self.event("segment_map" if expandable else "segment_alloc", address, size)
        made = {"address": address, "size": size, "expandable": expandable,
                "blocks": [{"address": address, "size": size, "state": "inactive", "asked": 0, "frames": None}]}
        self.segments.append(made)
        return made

    def alloc(self):
        asked = self.rng.choice([0, 1, 100, 512, 1000, 3000, self.rng.randrange(1, 9000)])
        size = (asked + 511) // 512 * 512 or 512
        places = [(s, i) for s in self.segments for i, b in enumerate(s["blocks"]) if b["state"] == "inactive"
                  and b["size"] >= size]
        segment, i = self.rng.choice(places) if places and self.rng.random() < 0.9 else (self.segment(size), 0)
        block = segment["blocks"][i]
        if block["size"] > size:
            segment["blocks"].insert(i + 1, {"address": block["address"] + size, "size": block["size"] - size,
                                             "state": "inactive",
                                             "asked": 0, "frames": None})
            block["size"] = size
        self.event("alloc", block["address"], asked)
        block.update(state="active_allocated", asked=asked, frames=self.events[-1].get("frames"))

    def free(self):
        places = [(s, b) for s in self.segments for b in s["blocks"] if b["state"] == "active_allocated"]
        if not places:
            return
        segment, block = self.rng.choice(places)
        if self.rng.random() < 0.8:
            self.event("free_requested", block["address"], block["asked"])
            if self.rng.random() < 0.05:
                block["state"] = "active_awaiting_free"
                return
        self.release(segment, block)

    def release(self, segment, block):
        self.event("free_completed", block["address"], block["asked"])
        block.update(state="inactive", asked=0, frames=None)
        blocks = segment["blocks"]
        i = blocks.index(block)
        if i + 1 < len(blocks) and blocks[i + 1]["state"] == "inactive":
            block["size"] += blocks.pop(i + 1)["size"]
        if i > 0 and blocks[i - 1]["state"] == "inactive":
            blocks[i - 1]["size"] += blocks.pop(i)["size"]
        if len(blocks) == 1 and self.rng.random() < 0.3:
            self.segments.remove(segment)
            self.free_addresses.append((segment["address"], segment["size"]))
            if self.recorded:
                self.event("segment_unmap" if segment["expandable"] else "segment_free", segment["address"],
                           segment["size"])

    def run(self, steps):
        for _ in range(steps):
            self.rng.choice([self.alloc, self.alloc, self.free])()
            if self.rng.random() < 0.03:
                self.event(self.rng.choice(["oom", "snapshot", "user_defined"]), 0, self.rng.randrange(10))

    def described(self, old):
        made = []
        for segment in self.segments:
            blocks = []
            for block in segment["blocks"]:
                shown = {"size": block["size"], "requested_size": block["asked"], "state": block["state"]}
                if not old:
                    shown = {"address": block["address"], **shown}
                    if self.rng.random() < 0.5:
                        shown["frames"] = block["frames"] or []
                blocks.append(shown)
            active = [b for b in segment["blocks"] if b["state"].startswith("active")]
            made.append({"device": self.number, "address": segment["address"], "total_size": segment["size"],
                         "allocated_size": sum(b["size"] for b in active),
                         "active_size": sum(b["size"] for b in active),
                         "requested_size": sum(b["asked"] for b in active), "stream": 0, "segment_type": "small",
                         "segment_pool_id": (0, 0), "is_expandable": segment["expandable"], "blocks": blocks})
        return made


def snapshot(seed):
    """A random snapshot as its dict."""
    rng = random.Random(seed)
    frames = [{"name": name, "filename": file, "line": line} for name, file, line in FRAMES]
    stacks = [rng.choices(frames, k=rng.randrange(1, 12)) for _ in range(40)] + [[]]
    old = rng.random() < 0.2
    devices = [Device(rng, number, stacks, not old, rng.random() < 0.7) for number in range(rng.choice([1, 1, 2, 4]))]
    annotations, open_ones = [], []
    for device in devices:
        for _ in range(rng.randrange(1, 5)):
            device.run(rng.randrange(0, 60))
            if open_ones and rng.random() < 0.5:
                annotations.append({"stage": "END", "name": open_ones.pop(rng.randrange(len(open_ones))),
                                    "device": device.number,
                                    "time_us": device.now})
            else:
                open_ones.append(rng.choice(["a", "b", "c"]))
                annotations.append({"stage": "START", "name": open_ones[-1], "device": device.number,
                                    "time_us": device.now})
    made = {"segments": [s for d in devices for s in d.described(old)],
            "device_traces": [d.events[rng.choice([0, 0, rng.randrange(len(d.events) + 1)]):] for d in devices]}
    rng.shuffle(made["segments"])
    if not old:
        made["external_annotations"] = annotations
    return made


def write(path, made, rng):
    """Pickles with any protocol, gzipped or not; frames are shared or not."""
    content = pickle.dumps(made, protocol=rng.choice([2, 3, 4, 5]))
    with (gzip.open if rng.random() < 0.3 else open)(path, "wb") as file:
        file.write(content)


def write_large(path, count, depth):
    """Events with separate lists of shared frames, in the format of Python's pickler. Returns the peak."""
    rng = random.Random(1)
    frames = [{"name": f"at::_ops::op{i}::call(long)" if i % 3 else f"f{i}", "filename": "??" if i % 3
               else f"/src/f{i % 50}.py", "line": i}
              for i in range(3000)]
    events, alive, free, last, now, peak = [], [], [], 1 << 40, 0, 0
    for i in range(count):
        if alive and (len(alive) > 50000 or rng.random() < 0.5):
            j = rng.randrange(len(alive))
            alive[j], alive[-1] = alive[-1], alive[j]
            (address, size), action = alive.pop(), "free_completed"
            free.append(address)
            now -= size
        else:
            address, size, action = free.pop() if free and rng.random() < 0.9 else last, rng.randrange(1 << 20), "alloc"
            last += 1 << 20 if address == last else 0
            alive.append((address, size))
            now += size
            peak = max(peak, now)
        events.append({"action": action, "addr": address, "size": size, "stream": 0,
                       "time_us": 1_700_000_000_000_000 + i,
                       "frames": rng.choices(frames, k=depth)})
    with open(path, "wb") as file:
        pickle.dump({"segments": [], "device_traces": [events], "external_annotations": []}, file, protocol=4)
    return peak


if __name__ == "__main__":
    print(json.dumps({"peak": write_large(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))}))
