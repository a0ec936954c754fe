"""Exact k nearest neighbours by PyTorch on the GPU that the suite measures, for comparison.

Distances are one matrix product a chunk of the base, merged by topk. Printed and written for each
precision: recall@10 (a hit is as near as the exact tenth), queries a second and the median time,
from queries in host memory to indices and distances in host memory.
"""

import argparse
import json
import os
import time

import numpy as np
import torch

K = 10
SETS = ["sift764k-bsds", "mnist60k-784", "glove100-novels", "sift100k-bsds", "clustered2m-96"]


def read_vectors(folder, stem):
    for extension, component in (("fvecs", "<f4"), ("bvecs", "u1")):
        path = os.path.join(folder, f"{stem}.{extension}")
        if os.path.exists(path):
            raw = np.fromfile(path, dtype=np.uint8)
            dimension = int(raw[:4].view("<i4")[0])
            width = 4 + dimension * np.dtype(component).itemsize
            rows = raw.reshape(-1, width)[:, 4:]
            return np.ascontiguousarray(rows).view(component).astype(np.float32)
    return None


def file_hash(folder):
    import hashlib

    digest = hashlib.sha256()
    for name in sorted(os.listdir(folder)):
        if name.startswith(("base.", "query.")):
            with open(os.path.join(folder, name), "rb") as stream:
                digest.update(stream.read())
    return digest.hexdigest()


class Search:
    """The base on the device, in one precision."""

    def __init__(self, base, metric, precision):
        self.metric = metric
        self.kind = torch.bfloat16 if precision == "bf16" else torch.float32
        torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
        torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
        self.base = base.to(self.kind)
        self.norms = (base.float() ** 2).sum(1)

    def __call__(self, queries):
        """Indices and distances of the nearest, as numpy arrays."""
        device_queries = torch.from_numpy(queries).pin_memory().to("cuda", non_blocking=True)
        count = queries.shape[0]
        # the product of one chunk fits 2 GiB
        chunk = max(1, min(self.base.shape[0], (1 << 29) // count))
        best, index = None, None
        for start in range(0, self.base.shape[0], chunk):
            part = self.base[start : start + chunk]
            product = (device_queries.to(self.kind) @ part.T).float()
            if self.metric == "l2":
                near = self.norms[start : start + chunk] - 2 * product
            else:
                near = -product
            values, places = near.topk(min(K, part.shape[0]), dim=1, largest=False)
            places = places + start
            if best is not None:
                values = torch.cat([best, values], 1)
                places = torch.cat([index, places], 1)
                values, order = values.topk(K, dim=1, largest=False)
                places = places.gather(1, order)
            best, index = values, places
        return index.cpu().numpy(), best.cpu().numpy()


def recall(base, queries, metric, found, truth):
    """Hits as near as the exact tenth, in double precision rounded to float as the suite does."""

    def distances(rows):
        vectors = base[rows].astype(np.float64)
        q = queries.astype(np.float64)[:, None, :]
        if metric == "l2":
            return ((vectors - q) ** 2).sum(2).astype(np.float32)
        return (-(vectors * q).sum(2)).astype(np.float32)

    tenth = np.sort(distances(truth[:, :K]), 1)[:, K - 1 : K]
    return float((distances(found) <= tenth).mean())


def measure(search, queries, batch, seconds):
    filled = np.ascontiguousarray(np.resize(queries, (batch, queries.shape[1])))
    samples = []
    for _ in range(3):
        search(filled)
    begin = time.perf_counter()
    while len(samples) < 5 or (time.perf_counter() - begin < seconds and len(samples) < 300):
        start = time.perf_counter()
        search(filled)
        samples.append(round((time.perf_counter() - start) * 1e6, 1))
    kept = samples if len(samples) <= 25 else samples[:: len(samples) // 25][:25]
    return kept


def run_set(name, folder, seconds):
    base = read_vectors(folder, "base")
    queries = read_vectors(folder, "query")
    truth = np.fromfile(os.path.join(folder, "groundtruth.ivecs"), dtype="<i4")
    truth = truth.reshape(queries.shape[0], -1)[:, 1:]
    with open(os.path.join(folder, "meta.json"), encoding="utf-8") as stream:
        metric = json.load(stream).get("metric", "l2")
    if metric == "cosine":
        base = base / np.linalg.norm(base, axis=1, keepdims=True)
        queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    digest = file_hash(folder)
    device_base = torch.from_numpy(base).cuda()
    for precision in ("float32", "tf32", "bf16"):
        search = Search(device_base, metric, precision)
        found, _ = search(queries)
        reached = recall(base, queries, metric, found, truth)
        for batch in (1, 10, 100, 1000, 10000):
            samples = measure(search, queries, batch, seconds)
            qps = batch * 1e6 / (sum(samples) / len(samples))
            ordered = sorted(samples)
            middle = len(ordered) // 2
            median = (
                ordered[middle]
                if len(ordered) % 2
                else (ordered[middle - 1] + ordered[middle]) / 2
            )
            print(
                f"{name} torch-exact-{precision} batch {batch} recall {reached:.4f}"
                f" {qps:,.0f} QPS p50 {median:,.1f} us",
                flush=True,
            )
            yield {
                "set": name,
                "set_sha256": digest,
                "n": int(base.shape[0]),
                "dims": int(base.shape[1]),
                "method": f"torch-exact-{precision}",
                "placement": "torch",
                "batch": batch,
                "callers": 1,
                "beam": 0,
                "recall_at_10": round(reached, 5),
                "qps": round(qps, 1),
                "p50_us": round(median, 2),
                "samples": samples,
            }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", required=True)
    parser.add_argument("--seconds", type=float, default=0.4)
    options, _ = parser.parse_known_args()
    rows = []
    for name in SETS:
        folder = os.path.join(options.home, "data", name)
        if os.path.exists(os.path.join(folder, "meta.json")):
            rows.extend(run_set(name, folder, options.seconds))
    with open(os.path.join(options.home, "code", "sources.sha256"), encoding="utf-8") as stream:
        sources = stream.read().strip()
    fragment = {
        "stage": "peers-torch",
        "sources_sha256": sources,
        "torch": torch.__version__,
        "benchmarks": rows,
    }
    with open(os.path.join(options.home, "report", "peers-torch.json"), "w", encoding="utf-8") as out:
        json.dump(fragment, out)


if __name__ == "__main__":
    main()
