#include "distances.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "half.h"
#include "vamana/component.h"
#include "vamana/table.h"

namespace vamana {

namespace {

constexpr uint32_t kTeam = 8;

// Sums the lanes as a warp does: each with the one whose number differs in one bit, highest first.
float butterfly(float* lanes, uint32_t count) {
  for (uint32_t stride = count / 2; stride > 0; stride /= 2) {
    for (uint32_t lane = 0; lane < stride; lane++) {
      lanes[lane] += lanes[lane + stride];
    }
  }
  return lanes[0];
}

float component(const HostRows& rows, const uint8_t* row, uint32_t d) {
  if (rows.format == kFloat32) {
    float value;
    std::memcpy(&value, row + 4 * d, sizeof value);
    return value;
  }
  if (rows.format == kFloat16) {
    uint16_t half;
    std::memcpy(&half, row + 2 * d, sizeof half);
    return half_value(half);
  }
  return byte_component(row[d] ^ rows.flip, rows.scale, rows.offset);
}

}  // namespace

std::vector<float> query_of(const Segment& segment, const Item& item) {
  std::vector<float> query(segment.dimension);
  for (uint32_t d = 0; d < segment.dimension; d++) {
    query[d] = segment.byte_scoring != 0
                   ? static_cast<float>(reinterpret_cast<const int8_t*>(item.query)[d])
                   : reinterpret_cast<const float*>(item.query)[d];
  }
  return query;
}

float query_norm2(const std::vector<float>& query, uint32_t warps) {
  std::vector<float> threads(warps * 32);
  for (size_t d = 0; d < query.size(); d++) {
    float& sum = threads[d % threads.size()];
    sum = std::fmaf(query[d], query[d], sum);
  }
  if (warps == 1) {
    return butterfly(threads.data(), 32);
  }
  float sum = 0;
  for (uint32_t warp = 0; warp < warps; warp++) {
    sum += butterfly(threads.data() + warp * 32, 32);
  }
  return sum;
}

HostRows vector_rows(const Segment& segment, uint32_t format) {
  return {segment.vectors,      segment.vector_stride, segment.dimension, format,
          segment.vector_scale, segment.vector_offset, segment.vector_flip, true};
}

HostRows raw_rows(const Segment& segment) {
  bool aligned = ((segment.raw | segment.raw_stride) & 15u) == 0;
  return {segment.raw, segment.raw_stride, segment.dimension, segment.raw_format,
          1.0f,        -128.0f,            0x80u,             aligned};
}

Sums exact_sums(const HostRows& rows, bool euclidean, const float* query, uint32_t ordinal) {
  const uint8_t* row = reinterpret_cast<const uint8_t*>(rows.base) +
                       static_cast<uint64_t>(ordinal) * rows.stride;
  const uint32_t chunk = rows.format == kFloat32 ? 4 : rows.format == kFloat16 ? 8 : 16;
  const uint32_t whole = rows.aligned ? rows.dimension / chunk : 0;
  float first[kTeam];
  float second[kTeam];
  for (uint32_t lane = 0; lane < kTeam; lane++) {
    Sums sums = {0, 0};
    for (uint32_t c = lane; c < whole; c += kTeam) {
      for (uint32_t d = c * chunk; d < (c + 1) * chunk; d++) {
        accumulate(sums, euclidean, query[d], component(rows, row, d));
      }
    }
    for (uint32_t d = whole * chunk + lane; d < rows.dimension; d += kTeam) {
      accumulate(sums, euclidean, query[d], component(rows, row, d));
    }
    first[lane] = sums.first;
    second[lane] = sums.second;
  }
  return {butterfly(first, kTeam), butterfly(second, kTeam)};
}

float exact_distance(const Segment& segment, const HostRows& rows, const float* query,
                     float norm2, uint32_t ordinal) {
  const Sums sums = exact_sums(rows, segment.similarity == kEuclidean, query, ordinal);
  return -score_of(segment.similarity, segment.byte_scoring != 0, segment.dimension, sums, norm2);
}

std::vector<float> distance_table(const Segment& segment, std::vector<float> query, float norm2,
                                  bool fixed) {
  const bool euclidean = segment.similarity == kEuclidean;
  if (segment.similarity == kCosine && norm2 > 0) {
    float inverse = 1 / std::sqrt(norm2);
    for (float& component : query) {
      component *= inverse;
    }
  }
  const float* columns = reinterpret_cast<const float*>(segment.columns);
  const float* norms = reinterpret_cast<const float*>(segment.centroid_norms);
  std::vector<float> table(segment.subspaces * kCentroids);
  float range = 0;
  for (uint32_t s = 0; s < segment.subspaces; s++) {
    uint32_t from = subspace_offset(segment.dimension, segment.subspaces, s);
    uint32_t to = subspace_offset(segment.dimension, segment.subspaces, s + 1);
    float part_norm2 = 0;
    for (uint32_t d = from; d < to; d++) {
      part_norm2 = std::fmaf(query[d], query[d], part_norm2);
      for (uint32_t c = 0; c < kCentroids; c++) {
        float& entry = table[s * kCentroids + c];
        entry = entry_part(euclidean, entry, query[d], columns[d * kCentroids + c]);
      }
    }
    if (fixed) {
      range = std::fmax(range, entry_range(euclidean, std::sqrt(part_norm2), norms[s]));
    }
  }
  if (fixed) {
    const float scale = fixed_scale(range);
    for (auto row = table.begin(); row != table.end(); row += kCentroids) {
      const float smallest = *std::min_element(row, row + kCentroids);
      std::transform(row, row + kCentroids, row, [&](float entry) {
        return fixed_entry(entry, smallest, scale);
      });
    }
  }
  return table;
}

float code_sum(const float* table, const uint8_t* code, uint32_t subspaces) {
  // two lanes take chunks of 16 bytes in turn; within a whole chunk there are four sums
  float lanes[2] = {0, 0};
  for (uint32_t chunk = 0; chunk * 16 < subspaces; chunk++) {
    const uint32_t left = subspaces - chunk * 16;
    float sums[4] = {0, 0, 0, 0};
    for (uint32_t b = 0; b < 16 && b < left; b++) {
      uint32_t s = chunk * 16 + b;
      sums[left >= 16 ? b % 4 : 0] += table[s * kCentroids + code[s]];
    }
    lanes[chunk % 2] += left >= 16 ? (sums[0] + sums[1]) + (sums[2] + sums[3]) : sums[0];
  }
  return lanes[0] + lanes[1];
}

}  // namespace vamana
