"""Selection by PyTorch on the GPU that the suite measures, for comparison with the stage select.

torch.topk of rows of a million random keys, smallest first, and torch.sort of the same rows (a
radix sort of the whole device), from keys on the device to values and indices there.
"""

import argparse
import json
import os
import time

import torch

N = 1_000_000


def median_seconds(work, rounds=3):
    work()
    torch.cuda.synchronize()
    samples = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        samples.append(time.perf_counter() - start)
    return sorted(samples)[rounds // 2]


def copy_bytes_per_second(keys):
    half = keys.view(-1)[: keys.numel() // 2]
    target = torch.empty_like(half)
    seconds = min(median_seconds(lambda: target.copy_(half), 1) for _ in range(5))
    return 2 * half.numel() * 4 / seconds


def row_of(method, rows, k, results, seconds, copy):
    speed = 4.0 * rows * N / seconds
    print(f"{method} {rows} x {N} k {k} {seconds * 1e6:,.1f} us {100 * speed / copy:.1f} %", flush=True)
    return {
        "what": f"random {rows} x {N}, k {k}, {results}",
        "method": method,
        "order": "random",
        "rows": rows,
        "n": N,
        "k": k,
        "results": results,
        "us": round(seconds * 1e6, 2),
        "gb_per_s": round(speed * 1e-9, 1),
        "share_of_copy": round(speed / copy, 4),
    }


def measure():
    torch.manual_seed(5)
    keys = torch.rand(1000, N, device="cuda")
    copy = copy_bytes_per_second(keys)
    for rows in (1000, 1):
        part = keys[:rows]
        for k in (1, 10, 32, 100, 128, 256, 512, 1000, 1024, 2048, 10_000, 100_000, 300_000):
            seconds = median_seconds(lambda: torch.topk(part, k, largest=False, sorted=True))
            yield row_of("torch.topk", rows, k, "sorted", seconds, copy)
    # as many rows at a time as leave room for the sort's copies
    seconds = sum(median_seconds(lambda: torch.sort(keys[at : at + 250])) for at in range(0, 1000, 250))
    for k in (10_000, 100_000, 300_000, 500_000):
        yield row_of("torch.sort", 1000, k, "sorted", seconds, copy)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", required=True)
    options, _ = parser.parse_known_args()
    rows = list(measure())
    with open(os.path.join(options.home, "code", "sources.sha256"), encoding="utf-8") as stream:
        sources = stream.read().strip()
    fragment = {
        "stage": "peers-torch-topk",
        "sources_sha256": sources,
        "torch": torch.__version__,
        "selection": rows,
    }
    path = os.path.join(options.home, "report", "peers-torch-topk.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(fragment, out)


if __name__ == "__main__":
    main()
