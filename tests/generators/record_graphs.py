"""Records a small server's decode steps as CUDA graphs on one GPU, and the capture of these graphs.

    python record_graphs.py FOLDER

FOLDER/{control,context,attention,mix}/rank0.json.gz are the traces: steps of 1 to 32 requests, replayed as graphs of 8,
16 or 32, and steps that read a prompt, operator by operator. They have vLLM's annotations. FOLDER/capture_SIDE/ is a
trace of the capture, with stacks. In `context`, attention reads 4,096 tokens instead of control's 1,024. In
`attention`, it is written out in the graphs of 8 and 16. These three run the same requests; in `mix` most steps have 30
or 32. It needs PyTorch and a GPU with CUDA.
"""
import os
import random
import sys

STEPS, BUCKETS, PROMPT = 60, (8, 16, 32), 512
WIDTH, LAYERS, VOCABULARY = 1024, 4, 8192
SIDES = {"control": 1024, "context": 4096, "attention": 1024, "mix": 1024}  # tokens that attention reads


def server(torch, side):
    """The model with its keys and values."""
    from torch.nn import functional
    heads = WIDTH // 64

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.project, self.back = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
            self.keys = torch.rand(max(BUCKETS), heads, SIDES[side], 64, device="cuda", dtype=torch.bfloat16)

        def forward(self, x):
            requests, tokens, _ = x.shape
            q, k, v = self.project(x).view(requests, tokens, 3, heads, 64).permute(2, 0, 3, 1, 4)
            if tokens == 1:
                k = v = self.keys[:requests]
            if tokens == 1 and side == "attention" and requests <= 16:
                x = torch.softmax(q @ k.transpose(-2, -1) / 8, -1) @ v
            else:
                x = functional.scaled_dot_product_attention(q, k, v)
            return self.back(x.transpose(1, 2).reshape(requests, tokens, WIDTH))

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.before, self.between = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
            self.attention = Attention()
            self.mlp = torch.nn.Sequential(torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.GELU(),
                                           torch.nn.Linear(4 * WIDTH, WIDTH))

        def forward(self, x):
            x = x + self.attention(self.before(x))
            return x + self.mlp(self.between(x))

    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Embedding(VOCABULARY, WIDTH), *[Layer() for _ in range(LAYERS)],
                               torch.nn.Linear(WIDTH, VOCABULARY)).cuda().bfloat16()


def record(torch, folder, side):
    from torch.profiler import ProfilerActivity, profile, record_function
    everything = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    model = server(torch, side)
    inputs = {size: torch.zeros(size, 1, dtype=torch.long, device="cuda") for size in BUCKETS}
    prompt = torch.zeros(1, PROMPT, dtype=torch.long, device="cuda")
    graphs, outputs = {}, {}
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for size in BUCKETS:
            model(inputs[size])
        model(prompt)
    torch.cuda.synchronize()
    with profile(activities=everything, record_shapes=True, with_stack=True) as profiler:
        for size in BUCKETS:
            graphs[size] = torch.cuda.CUDAGraph()
            with record_function(f"capture of {size}"), torch.cuda.graph(graphs[size]):
                outputs[size] = model(inputs[size])
    write(profiler, f"{folder}/capture_{side}")

    choose = random.Random(1)

    def step(number):
        if number % 10 == 9:
            with record_function(f"execute_context_1({PROMPT})_generation_0(0)"):
                model(prompt)[:, -1].argmax(-1).cpu()
            return
        requests = choose.choice((8, 30, 30, 32, 32, 32) if side == "mix" else (6, 8, 13, 16, 30, 32))
        with record_function(f"execute_context_0(0)_generation_{requests}({requests})"):
            size = min(size for size in BUCKETS if size >= requests)
            inputs[size][:requests].copy_(torch.full((requests, 1), number).pin_memory(), non_blocking=True)
            graphs[size].replay()
            outputs[size][:requests, -1].argmax(-1).cpu()

    for number in range(10):
        step(number)
    with profile(activities=everything, record_shapes=True,
                 experimental_config=torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)) as profiler:
        for number in range(STEPS):
            step(number)
    write(profiler, f"{folder}/{side}")


def write(profiler, folder):
    os.makedirs(folder, exist_ok=True)
    profiler.export_chrome_trace(f"{folder}/rank0.json.gz")


def main(folder):
    import torch
    with torch.no_grad():
        for side in SIDES:
            record(torch, folder, side)


if __name__ == "__main__":
    main(sys.argv[1])
