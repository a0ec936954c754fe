// Input of the products. exact_facts joins the largest norm and the flags of all rows (of
// floats) into facts; exact_rows writes copies and biases of the candidates, exact_targets copies,
// thresholds, counts and slacks of the queries, both up to whole tiles. Any number of blocks of
// whole warps.
#include "exact_scan/rows.cuh"
#include "half.cuh"
#include "vamana/convert.h"
#include "vamana/exact_bound.h"
#include "warp.cuh"

namespace {

using namespace vamana;

// Eight lanes work on a row, four components each at a time.
__device__ __forceinline__ uint64_t first_row() {
  return (static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / kRowLanes;
}

__device__ __forceinline__ uint64_t row_step() {
  return static_cast<uint64_t>(gridDim.x) * blockDim.x / kRowLanes;
}

__device__ __forceinline__ uint32_t row_lane() { return threadIdx.x % kRowLanes; }

struct Four {
  float value[4];
};

// Components 4 * c to 4 * c + 3; zeros beyond the last.
__device__ __forceinline__ Four four_of(const uint8_t* row, bool bytes, uint32_t c,
                                        uint32_t dimension) {
  Four four = {{0, 0, 0, 0}};
  if (c * 4 < dimension) {
    if (bytes) {
      const uint32_t word = __ldg(reinterpret_cast<const uint32_t*>(row) + c);
#pragma unroll
      for (uint32_t i = 0; i < 4; i++) {
        four.value[i] = static_cast<float>(static_cast<int8_t>(word >> (8 * i)));
      }
    } else {
      const float4 word = __ldg(reinterpret_cast<const float4*>(row) + c);
      four = {{word.x, word.y, word.z, word.w}};
    }
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
      four.value[i] = c * 4 + i < dimension ? four.value[i] : 0;
    }
  }
  return four;
}

__device__ __forceinline__ uint32_t fours_of(uint32_t dimension) { return (dimension + 3) / 4; }

struct Norms {
  float single;
  int32_t integer;  // of integers, which single precision may not hold
};

__device__ __forceinline__ Norms norms_of(const uint8_t* row, bool bytes, uint32_t dimension) {
  Norms norms{0, 0};
#pragma unroll 4
  for (uint32_t c = row_lane(); c < fours_of(dimension); c += kRowLanes) {
    const Four four = four_of(row, bytes, c, dimension);
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
      norms.single = fmaf(four.value[i], four.value[i], norms.single);
      const int32_t value = static_cast<int32_t>(four.value[i]);
      norms.integer += value * value;
    }
  }
#pragma unroll
  for (uint32_t step = kRowLanes / 2; step > 0; step /= 2) {
    norms.single += __shfl_xor_sync(0xFFFFFFFFu, norms.single, step);
    norms.integer += __shfl_xor_sync(0xFFFFFFFFu, norms.integer, step);
  }
  return norms;
}

// Writes a copy, four components a lane; a row of null is one of zeros.
__device__ __forceinline__ void write_copy(const ExactScan& p, uint64_t target, const uint8_t* row,
                                           bool bytes, float factor) {
  const bool halves = p.format == kExactHalf;
  const uint32_t fours = p.copy_stride / (halves ? 8 : 4);
  // the factor of a row of zeros is infinite, and zero times that would be no number
  const float by = row == nullptr ? 0 : factor;
#pragma unroll 4
  for (uint32_t c = row_lane(); c < fours; c += kRowLanes) {
    const Four four = row == nullptr ? Four{{0, 0, 0, 0}} : four_of(row, bytes, c, p.dimension);
    if (halves) {
      uint32_t bits[4];
#pragma unroll
      for (uint32_t i = 0; i < 4; i++) {
        bits[i] = half_bits(four.value[i] * by);
      }
      reinterpret_cast<uint2*>(target)[c] =
          make_uint2(bits[0] | bits[1] << 16, bits[2] | bits[3] << 16);
    } else {
      uint32_t word = 0;
#pragma unroll
      for (uint32_t i = 0; i < 4; i++) {
        word |= (static_cast<uint32_t>(static_cast<int32_t>(four.value[i])) & 255u) << (8 * i);
      }
      reinterpret_cast<uint32_t*>(target)[c] = word;
    }
  }
}

// Factor of the components of a row.
__device__ __forceinline__ float factor_of(const ExactScan& p, float norm2) {
  return p.similarity == kCosine ? 1 / sqrtf(norm2) : p.scale;
}

}  // namespace

extern "C" __global__ void exact_facts(const __grid_constant__ ExactScan p) {
  uint32_t flags = 0;
  float largest = 0;
  // whole warps go on together, so that rows beyond the last are looked at again
  for (uint64_t base = first_row() / 4 * 4; base < p.size; base += row_step()) {
    const uint64_t i = min(base + threadIdx.x % 32 / kRowLanes, static_cast<uint64_t>(p.size) - 1);
    const uint8_t* row = reinterpret_cast<const uint8_t*>(p.rows + i * p.row_stride);
    float sum = 0;
#pragma unroll 4
    for (uint32_t c = row_lane(); c < fours_of(p.dimension); c += kRowLanes) {
      const Four four = four_of(row, false, c, p.dimension);
#pragma unroll
      for (uint32_t j = 0; j < 4; j++) {
        flags |= range_flags(four.value[j]);
        sum = fmaf(four.value[j], four.value[j], sum);
      }
    }
    sum = sum_of_row(sum);
    if (!is_finite(sum)) {
      flags |= kNotFinite;
    } else {
      largest = fmaxf(largest, sum);
    }
  }
  flags = warp_or(flags);
  // floats that are not negative are in the order of their bits
  const uint32_t norm = warp_max(__float_as_uint(sqrtf(largest)));
  if (threadIdx.x % 32 == 0) {
    ExactFacts* facts = reinterpret_cast<ExactFacts*>(p.facts);
    atomicMax(&facts->largest_norm, norm);
    atomicOr(&facts->flags, flags);
  }
}

extern "C" __global__ void exact_rows(const __grid_constant__ ExactScan p) {
  const bool bytes = p.byte_scoring != 0;
  uint32_t skipped = 0;
  for (uint64_t i = first_row(); i < static_cast<uint64_t>(p.tiles) * kExactTile;
       i += row_step()) {
    const uint32_t row = i < p.candidates ? exact_row(p, static_cast<uint32_t>(i)) : kUnusedSlot;
    const uint8_t* source =
        reinterpret_cast<const uint8_t*>(p.rows) +
        static_cast<uint64_t>(row == kUnusedSlot ? 0 : row) * p.row_stride;
    const Norms norms = norms_of(source, bytes, p.dimension);
    const float factor = factor_of(p, norms.single);
    uint32_t bias = exact_barred(p.format);
    if (row == kUnusedSlot) {
      source = nullptr;
    } else if (is_finite(factor)) {
      bias = exact_floats(p.format) ? exact_half_bias(p, norms.single)
                                    : exact_integer_bias(p, norms.integer);
    } else {
      source = nullptr;
      skipped++;
    }
    write_copy(p, p.copies + i * p.copy_stride, source, bytes, factor);
    if (row_lane() == 0) {
      reinterpret_cast<uint32_t*>(p.biases)[i] = bias;
    }
  }
  if (row_lane() == 0 && skipped > 0) {
    atomicAdd(&reinterpret_cast<ExactFacts*>(p.facts)->skipped, skipped);
  }
}

extern "C" __global__ void exact_targets(const __grid_constant__ ExactScan p) {
  const uint32_t total = (p.query_count + kExactTile - 1) / kExactTile * kExactTile;
  const float row_norm =
      p.similarity == kCosine
          ? 1
          : __uint_as_float(reinterpret_cast<const ExactFacts*>(p.facts)->largest_norm) * p.scale;
  for (uint64_t i = first_row(); i < total; i += row_step()) {
    const bool asked = i < p.query_count;
    const uint8_t* source =
        reinterpret_cast<const uint8_t*>(p.queries + (asked ? i : 0) * p.query_stride);
    const float norm = sqrtf(norms_of(source, false, p.dimension).single) * p.scale;
    // such a query is not fit for products: it counts as one whose buffer ran over
    const bool odd = !is_finite(norm);
    write_copy(p, p.targets + i * p.copy_stride, asked && !odd ? source : nullptr, false, p.scale);
    if (row_lane() == 0) {
      reinterpret_cast<uint32_t*>(p.thresholds)[i] =
          asked && !odd ? exact_lowest(p.format) : exact_never(p.format);
      reinterpret_cast<uint32_t*>(p.counts)[i] = odd ? p.capacity + 1 : 0;
      reinterpret_cast<uint32_t*>(p.slacks)[i] = exact_slack(p, norm, row_norm);
    }
  }
}
