#include "distances.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "half.h"
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
  uint16_t half;
  std::memcpy(&half, row + 2 * d, sizeof half);
  return half_value(half);
}

// Sum as a block of so many warps adds it up, whose threads take so many neighbours: of products of two
// vectors.
float block_sum(const std::vector<float>& a, const std::vector<float>& b, uint32_t warps,
                uint32_t neighbours) {
  std::vector<float> threads(warps * 32);
  for (size_t d = 0; d < a.size(); d++) {
    float& sum = threads[d / neighbours % threads.size()];
    sum = std::fmaf(a[d], b[d], sum);
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

// Makes the bytes of the query that are compared with copies in bytes.
void set_copies(HostQuery& query, const Segment& segment, uint32_t warps, uint32_t neighbours) {
  const bool euclidean = segment.similarity == kEuclidean;
  const float* from = reinterpret_cast<const float*>(segment.vector_center);
  const std::vector<float> center(from, from + segment.dimension);
  std::vector<float> moved = query.floats;
  float largest = 0;
  query.whole = segment.whole_copies != 0;
  for (uint32_t d = 0; d < segment.dimension; d++) {
    moved[d] = euclidean ? moved[d] - center[d] : moved[d];
    largest = std::fmax(largest, std::fabs(moved[d]));
    query.whole = query.whole && is_whole(moved[d]);
  }
  if (query.whole) {
    for (float component : moved) {
      query.high.push_back(static_cast<int8_t>(component));
      query.squares += query.high.back() * query.high.back();
    }
    return;
  }
  const float step = query_step(largest);
  const float norm2 = block_sum(moved, moved, warps, neighbours);
  query.copies =
      byte_query(segment.similarity, step,
                 euclidean ? norm2 : block_sum(moved, center, warps, neighbours), norm2);
  for (float component : moved) {
    const int32_t steps = query_steps(component, step);
    query.high.push_back(static_cast<int8_t>(high_byte(steps)));
    query.low.push_back(static_cast<int8_t>(low_byte(steps)));
  }
}

int32_t dot_bytes(const int8_t* a, const int8_t* b, uint32_t dimension) {
  int32_t sum = 0;
  for (uint32_t d = 0; d < dimension; d++) {
    sum += a[d] * b[d];
  }
  return sum;
}

float byte_distance(const Segment& segment, const int8_t* row, const HostQuery& query) {
  return -byte_score(segment.similarity, segment.dimension,
                     dot_bytes(query.high.data(), row, segment.dimension),
                     dot_bytes(row, row, segment.dimension), query.squares);
}

float copy_distance(const Segment& segment, const int8_t* row, ByteFacts facts,
                    const HostQuery& query) {
  const Sums sums = copy_sums(dot_bytes(query.high.data(), row, segment.dimension),
                              dot_bytes(query.low.data(), row, segment.dimension), facts);
  return -copy_score(segment.similarity, sums, query.copies);
}

Sums row_sums(const HostRows& rows, bool euclidean, const float* query, const uint8_t* row) {
  const uint32_t chunk = rows.format == kFloat32 ? 4 : 8;
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

float float_distance(const Segment& segment, const HostRows& rows, const uint8_t* row,
                     const HostQuery& query) {
  const Sums sums = row_sums(rows, segment.similarity == kEuclidean, query.floats.data(), row);
  return -score_of(segment.similarity, sums, query.norm2);
}

const uint8_t* row_at(const HostRows& rows, uint32_t ordinal) {
  return reinterpret_cast<const uint8_t*>(rows.base) + static_cast<uint64_t>(ordinal) * rows.stride;
}

}  // namespace

HostQuery query_of(const Segment& segment, const Item& item, uint32_t warps, uint32_t neighbours) {
  HostQuery query;
  query.floats.resize(segment.dimension);
  for (uint32_t d = 0; d < segment.dimension; d++) {
    if (segment.byte_scoring != 0) {
      const int32_t component = reinterpret_cast<const int8_t*>(item.query)[d];
      query.floats[d] = static_cast<float>(component);
      query.high.push_back(static_cast<int8_t>(component));
      query.squares += component * component;
    } else {
      query.floats[d] = reinterpret_cast<const float*>(item.query)[d];
    }
  }
  query.norm2 = block_sum(query.floats, query.floats, warps, neighbours);
  if (segment.vector_facts != 0) {
    set_copies(query, segment, warps, neighbours);
  }
  return query;
}

float query_norm2(const std::vector<float>& query, uint32_t warps) {
  return block_sum(query, query, warps, 1);
}

HostRows vector_rows(const Segment& segment, uint32_t format) {
  return {segment.vectors, segment.vector_stride, segment.dimension,
          format,          segment.vector_facts,  true};
}

HostRows raw_rows(const Segment& segment) {
  bool aligned = ((segment.raw | segment.raw_stride) & 15u) == 0;
  return {segment.raw, segment.raw_stride, segment.dimension, segment.raw_format, 0, aligned};
}

Sums float_sums(const HostRows& rows, bool euclidean, const float* query, uint32_t ordinal) {
  return row_sums(rows, euclidean, query, row_at(rows, ordinal));
}

float exact_distance(const Segment& segment, const HostRows& rows, const HostQuery& query,
                     uint32_t ordinal) {
  const uint8_t* row = row_at(rows, ordinal);
  if (rows.format != kByte) {
    return float_distance(segment, rows, row, query);
  }
  const int8_t* bytes = reinterpret_cast<const int8_t*>(row);
  return rows.facts == 0 || query.whole
             ? byte_distance(segment, bytes, query)
             : copy_distance(segment, bytes,
                             reinterpret_cast<const ByteFacts*>(rows.facts)[ordinal], query);
}

HostTable table_of(const Segment& segment, bool euclidean, const std::vector<float>& query,
                   bool fixed) {
  const float* columns = reinterpret_cast<const float*>(segment.columns);
  const float* norms = reinterpret_cast<const float*>(segment.centroid_norms);
  HostTable made;
  std::vector<float>& table = made.entries;
  table.resize(segment.subspaces * kCentroids);
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
    made.scale = fixed_scale(range);
    for (auto row = table.begin(); row != table.end(); row += kCentroids) {
      const float smallest = *std::min_element(row, row + kCentroids);
      made.smallest += smallest;
      std::transform(row, row + kCentroids, row, [&](float entry) {
        return fixed_entry(entry, smallest, made.scale);
      });
    }
  }
  return made;
}

std::vector<float> distance_table(const Segment& segment, std::vector<float> query, float norm2,
                                  bool fixed) {
  if (segment.similarity == kCosine && norm2 > 0) {
    float inverse = 1 / std::sqrt(norm2);
    for (float& component : query) {
      component *= inverse;
    }
  }
  return table_of(segment, segment.similarity == kEuclidean, query, fixed).entries;
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
