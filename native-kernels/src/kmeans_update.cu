// Centroids as the means of their rows, without floating-point atomics: rows are sorted by cluster
// (a counting sort that keeps their order), each cluster is cut into parts of a fixed size, and
// parts are added up in a fixed order. The same assignments always give the same bits.
#include "kmeans.cuh"

namespace {

using namespace vamana;

constexpr uint32_t kThreads = 256;
constexpr uint32_t kScanThreads = 512;
constexpr uint32_t kWarp = 32;
constexpr uint32_t kAll = 0xFFFFFFFFu;
// rows that a thread reads before it adds the first
constexpr uint32_t kAtOnce = 4;

__device__ __forceinline__ uint32_t* counts_of(const KMeans& p, uint32_t s, uint64_t chunk) {
  return at<uint32_t>(p.counts) + (s * kmeans_chunks(p) + chunk) * p.k;
}

// The sum over the block, and in exclusive the sum of the threads before; all threads call.
__device__ __forceinline__ uint32_t scan_block(uint32_t value, uint32_t& exclusive,
                                               uint32_t (&warps)[kWarp]) {
  const uint32_t lane = threadIdx.x % kWarp;
  const uint32_t warp = threadIdx.x / kWarp;
  uint32_t sum = value;
#pragma unroll
  for (uint32_t i = 1; i < kWarp; i *= 2) {
    const uint32_t other = __shfl_up_sync(kAll, sum, i);
    sum += lane >= i ? other : 0;
  }
  __syncthreads();
  if (lane == kWarp - 1) {
    warps[warp] = sum;
  }
  __syncthreads();
  uint32_t before = 0;
  uint32_t total = 0;
  for (uint32_t i = 0; i < blockDim.x / kWarp; i++) {
    before += i < warp ? warps[i] : 0;
    total += warps[i];
  }
  exclusive = before + sum - value;
  return total;
}

// The sum over the block, in a fixed order, for the first thread.
template <uint32_t kSize>
__device__ __forceinline__ double sum_block(double value, double (&sums)[kSize]) {
  sums[threadIdx.x] = value;
  for (uint32_t half = kSize / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
  }
  __syncthreads();
  return sums[0];
}

// The cluster that part belongs to: the last that starts at or before it.
__device__ __forceinline__ uint32_t cluster_of(const uint32_t* parts, uint32_t k, uint32_t part) {
  uint32_t low = 0;
  uint32_t high = k;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (parts[middle] <= part) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// A block for each part; threads are groups of width, a thread a component of the rows, a group every
// groups-th row.
__device__ __forceinline__ void sum_part(const KMeans& p) {
  __shared__ double shared[kThreads];
  const uint32_t s = blockIdx.x % p.subspaces;
  const uint32_t part = blockIdx.x / p.subspaces;
  const uint32_t* parts = parts_of(p, s);
  if (done(p, s) || part >= parts[p.k]) {
    return;
  }
  const uint32_t cluster = cluster_of(parts, p.k, part);
  const uint32_t* starts = starts_of(p, s);
  const uint32_t from = starts[cluster] + (part - parts[cluster]) * kKMeansPart;
  const uint32_t to = min(starts[cluster + 1], from + kKMeansPart);
  const uint32_t* order = at<uint32_t>(p.order) + s * p.capacity;
  const uint32_t length = subspace_length(p, s);
  const uint32_t offset = subspace_offset(p, s);
  uint32_t width = 1;
  while (width < length && width < kThreads) {
    width *= 2;
  }
  const uint32_t groups = kThreads / width;
  const uint32_t group = threadIdx.x / width;
  double* target = at<double>(p.sums) +
                   (static_cast<uint64_t>(s) * p.part_capacity + part) * p.max_length;
  for (uint32_t first = 0; first < length; first += width) {
    const uint32_t component = first + threadIdx.x % width;
    double sum = 0;
    if (component < length) {
      uint32_t i = from + group;
      for (; i + (kAtOnce - 1) * groups < to; i += kAtOnce * groups) {
        float values[kAtOnce];
#pragma unroll
        for (uint32_t j = 0; j < kAtOnce; j++) {
          values[j] = row_of(p, order[i + j * groups])[offset + component];
        }
#pragma unroll
        for (uint32_t j = 0; j < kAtOnce; j++) {
          sum += values[j];
        }
      }
      for (; i < to; i += groups) {
        sum += row_of(p, order[i])[offset + component];
      }
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    if (group == 0 && component < length) {
      double whole = 0;
      for (uint32_t g = 0; g < groups; g++) {
        whole += shared[g * width + threadIdx.x];
      }
      target[component] = whole;
    }
    __syncthreads();
  }
}

}  // namespace

// Counts the rows of a chunk in each cluster, and sums up their errors. One block a chunk.
extern "C" __global__ void __launch_bounds__(kThreads) kmeans_count(const __grid_constant__ KMeans p) {
  __shared__ uint32_t counts[kKMeansMaxCentroids];
  __shared__ double sums[kThreads];
  const uint32_t s = blockIdx.x % p.subspaces;
  const uint64_t chunk = blockIdx.x / p.subspaces;
  if (done(p, s)) {
    return;
  }
  for (uint32_t c = threadIdx.x; c < p.k; c += kThreads) {
    counts[c] = 0;
  }
  __syncthreads();
  const uint32_t* assigned = assigned_of(p, s);
  const float* errors = errors_of(p, s);
  const uint64_t end = min(p.count, (chunk + 1) * kKMeansChunk);
  double error = 0;
  for (uint64_t row = chunk * kKMeansChunk + threadIdx.x; row < end; row += kThreads) {
    atomicAdd(&counts[assigned[row]], 1u);
    error += errors[row];
  }
  error = sum_block(error, sums);
  if (threadIdx.x == 0) {
    at<double>(p.chunk_errors)[s * kmeans_chunks(p) + chunk] = error;
  }
  uint32_t* target = counts_of(p, s, chunk);
  for (uint32_t c = threadIdx.x; c < p.k; c += kThreads) {
    target[c] = counts[c];
  }
}

// Turns counts into places: where each chunk's rows of each cluster go; a block a subspace.
extern "C" __global__ void __launch_bounds__(kScanThreads) kmeans_place(const __grid_constant__ KMeans p) {
  __shared__ uint32_t warps[kWarp];
  const uint32_t s = blockIdx.x;
  if (done(p, s)) {
    return;
  }
  const uint64_t chunks = kmeans_chunks(p);
  uint32_t* starts = starts_of(p, s);
  uint32_t* parts = parts_of(p, s);
  uint32_t before = 0;
  uint32_t parts_before = 0;
  for (uint32_t first = 0; first < p.k; first += kScanThreads) {
    const uint32_t c = first + threadIdx.x;
    uint32_t size = 0;
    if (c < p.k) {
#pragma unroll 8
      for (uint64_t chunk = 0; chunk < chunks; chunk++) {
        size += counts_of(p, s, chunk)[c];
      }
    }
    uint32_t start;
    uint32_t part;
    const uint32_t total = scan_block(size, start, warps);
    const uint32_t all_parts = scan_block((size + kKMeansPart - 1) / kKMeansPart, part, warps);
    if (c < p.k) {
      starts[c] = start += before;
      parts[c] = part + parts_before;
      for (uint64_t chunk = 0; chunk < chunks; chunk++) {
        uint32_t* count = counts_of(p, s, chunk) + c;
        const uint32_t next = start + *count;
        *count = start;
        start = next;
      }
    }
    before += total;
    parts_before += all_parts;
  }
  if (threadIdx.x == 0) {
    starts[p.k] = before;
    parts[p.k] = parts_before;
  }
}

// Sorts rows by cluster; a warp a chunk, 32 rows after the other.
extern "C" __global__ void __launch_bounds__(kWarp) kmeans_sort(const __grid_constant__ KMeans p) {
  __shared__ uint32_t places[kKMeansMaxCentroids];
  const uint32_t s = blockIdx.x % p.subspaces;
  const uint64_t chunk = blockIdx.x / p.subspaces;
  if (done(p, s)) {
    return;
  }
  const uint32_t* source = counts_of(p, s, chunk);
  for (uint32_t c = threadIdx.x; c < p.k; c += kWarp) {
    places[c] = source[c];
  }
  __syncwarp();
  const uint32_t* assigned = assigned_of(p, s);
  uint32_t* order = at<uint32_t>(p.order) + s * p.capacity;
  const uint64_t begin = chunk * kKMeansChunk;
  const uint64_t end = min(p.count, begin + kKMeansChunk);
  for (uint64_t row = begin + threadIdx.x; row - threadIdx.x < end; row += kWarp) {
    // lanes beyond the end are alike, and of no cluster
    const uint32_t cluster = row < end ? assigned[row] : kAll;
    const uint32_t same = __match_any_sync(kAll, cluster);
    const uint32_t before = __popc(same & ((1u << threadIdx.x) - 1));
    uint32_t place = 0;
    if (cluster != kAll) {
      place = places[cluster] + before;
      order[place] = static_cast<uint32_t>(row);
    }
    __syncwarp();
    if (cluster != kAll && before + 1 == __popc(same)) {
      places[cluster] = place + 1;
    }
    __syncwarp();
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) kmeans_sum(const __grid_constant__ KMeans p) {
  sum_part(p);
}

// Moves the centroids of clusters that have rows; a thread a component.
extern "C" __global__ void __launch_bounds__(kThreads) kmeans_move(const __grid_constant__ KMeans p) {
  const uint64_t total = static_cast<uint64_t>(p.k) * p.dims;
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * kThreads;
  for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * kThreads + threadIdx.x; i < total; i += step) {
    // centroids of a subspace take k times its components
    const uint32_t s = subspace_of(p, static_cast<uint32_t>(i / p.k));
    if (done(p, s)) {
      continue;
    }
    const uint32_t offset = subspace_offset(p, s);
    const uint32_t length = subspace_length(p, s);
    const uint64_t inside = i - static_cast<uint64_t>(p.k) * offset;
    const uint32_t c = static_cast<uint32_t>(inside / length);
    const uint32_t d = static_cast<uint32_t>(inside % length);
    const uint32_t* parts = parts_of(p, s);
    const uint32_t* starts = starts_of(p, s);
    const uint32_t size = starts[c + 1] - starts[c];
    if (size == 0) {
      continue;
    }
    double sum = 0;
    for (uint32_t part = parts[c]; part < parts[c + 1]; part++) {
      sum += at<const double>(p.sums)[(static_cast<uint64_t>(s) * p.part_capacity + part) *
                                          p.max_length + d];
    }
    centroids_of(p, s)[inside] = static_cast<float>(sum / size);
  }
}

// Adds up the errors and decides which subspaces are done; a block a subspace.
extern "C" __global__ void __launch_bounds__(kScanThreads) kmeans_finish(const __grid_constant__ KMeans p) {
  __shared__ double sums[kScanThreads];
  const uint32_t s = blockIdx.x;
  if (done(p, s)) {
    return;
  }
  const uint64_t chunks = kmeans_chunks(p);
  const double* errors = at<const double>(p.chunk_errors) + s * chunks;
  double sum = 0;
  for (uint64_t chunk = threadIdx.x; chunk < chunks; chunk += kScanThreads) {
    sum += errors[chunk];
  }
  sum = sum_block(sum, sums);
  if (threadIdx.x == 0) {
    KMeansState& state = state_of(p, s);
    state.error = sum;
    state.done = kmeans_ends(sum, state.before, p.tolerance) ? 1 : 0;
    state.before = sum;
  }
}
