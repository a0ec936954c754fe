#include "build_host.h"

#include <algorithm>
#include <vector>

#include "distances.h"
#include "vamana/order.h"
#include "vamana/visited.h"

namespace vamana {

namespace {

template <typename T>
T* at(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

uint32_t node_of(const Build& b, uint32_t i) {
  return b.nodes != 0 ? at<const uint32_t>(b.nodes)[i] : b.first + i;
}

uint32_t* row_of(const Build& b, uint32_t node) {
  return at<uint32_t>(b.graph) + static_cast<uint64_t>(node) * b.graph_stride;
}

std::vector<uint32_t> read_row(const Build& b, uint32_t node) {
  std::vector<uint32_t> row(row_of(b, node), row_of(b, node) + b.graph_stride);
  row.erase(std::remove_if(row.begin(), row.end(), [&](uint32_t o) { return o >= b.size; }), row.end());
  return row;
}

void write_row(const Build& b, uint32_t node, const std::vector<uint32_t>& neighbors) {
  uint32_t* row = row_of(b, node);
  std::fill(row, row + b.graph_stride, kUnusedSlot);
  std::copy(neighbors.begin(), neighbors.end(), row);
}

// Distances from one node.
template <bool PRODUCTS>
class Distances {
 public:
  Distances(const Build& b, uint32_t node)
      : rows_{b.vectors, b.vector_stride, b.dimension, kFloat32, 0, true},
        query_(at<const float>(b.vectors + static_cast<uint64_t>(node) * b.vector_stride)) {}

  float to(uint32_t ordinal) const {
    const float sum = float_sums(rows_, PRODUCTS == false, query_, ordinal).first;
    return PRODUCTS ? -sum : sum;
  }

 private:
  HostRows rows_;
  const float* query_;
};

// What robust prune compares, from a distance between a candidate and another node.
template <bool PRODUCTS>
float scaled(const Build& b, uint32_t candidate, uint32_t other, float distance) {
  if (PRODUCTS == false) {
    return distance;
  }
  const float* inverse = at<const float>(b.inverse_norms);
  return build_direction_distance(-distance, inverse[candidate], inverse[other]);
}

// Keys of the ordinals, nearest first, each once, without the node.
template <bool PRODUCTS>
std::vector<uint64_t> sorted(const Build& b, uint32_t node, const std::vector<uint32_t>& ordinals) {
  const Distances<PRODUCTS> distances(b, node);
  std::vector<uint64_t> keys;
  for (uint32_t ordinal : ordinals) {
    if (ordinal != node) {
      keys.push_back(make_key(distances.to(ordinal), ordinal));
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

template <bool PRODUCTS>
std::vector<uint32_t> prune(const Build& b, uint32_t node, std::vector<uint64_t> keys) {
  std::vector<uint32_t> kept;
  while (keys.empty() == false && kept.size() < b.max_degree) {
    const uint32_t nearest = key_ordinal(keys.front());
    kept.push_back(nearest);
    const Distances<PRODUCTS> distances(b, nearest);
    std::vector<uint64_t> left;
    for (size_t i = 1; i < keys.size(); i++) {
      const uint32_t candidate = key_ordinal(keys[i]);
      const float between =
          scaled<PRODUCTS>(b, candidate, nearest, distances.to(candidate));
      const float own = scaled<PRODUCTS>(b, candidate, node, key_distance(keys[i]));
      if (build_occludes(b.alpha, between, own) == false) {
        left.push_back(keys[i]);
      }
    }
    keys = left;
  }
  return kept;
}

template <typename Body>
void for_each_edge(const Build& b, Body body) {
  for (uint32_t i = 0; i < b.count; i++) {
    const uint32_t from = node_of(b, i);
    for (uint32_t slot = 0; slot < b.max_degree; slot++) {
      const uint32_t to = row_of(b, from)[slot];
      if (to < b.size) {
        body(from, to);
      }
    }
  }
}

std::string check(const Build& b) {
  if (b.slots < b.max_degree || b.slots > b.graph_stride || b.graph_stride > kMaxDegree) {
    return "a row has " + std::to_string(b.graph_stride) + " slots";
  }
  if (b.vector_stride % 16 != 0 || b.vectors % 16 != 0) {
    return "rows of vectors are not aligned";
  }
  return "";
}

}  // namespace

void build_items_host(const Build& b) {
  std::fill(at<uint32_t>(b.counters), at<uint32_t>(b.counters) + kBuildCounters, 0u);
  for (uint32_t i = 0; i < b.count; i++) {
    Item item = {};
    item.segment = b.segment;
    item.query = b.vectors + static_cast<uint64_t>(node_of(b, i)) * b.vector_stride;
    item.result = b.found + i * build_result_bytes(b.beam);
    item.k = b.beam;
    item.beam = b.beam;
    item.parents = b.parents;
    item.rerank = static_cast<int32_t>(b.beam);
    item.visit_limit = kUnlimited;
    item.capacity = b.beam;
    at<Item>(b.items)[i] = item;
    at<uint64_t>(b.addresses)[i] = b.items + static_cast<uint64_t>(i) * sizeof(Item);
  }
}

void build_count_host(const Build& b) {
  uint32_t* counters = at<uint32_t>(b.counters);
  for_each_edge(b, [&](uint32_t, uint32_t to) {
    if (at<uint32_t>(b.arrivals)[to]++ == 0) {
      at<BuildRun>(b.runs)[counters[kBuildTouched]++].node = to;
    }
  });
}

void build_place_host(const Build& b) {
  uint32_t* counters = at<uint32_t>(b.counters);
  // from the last on, because a device takes them in any order
  for (uint32_t i = counters[kBuildTouched]; i-- > 0;) {
    BuildRun& run = at<BuildRun>(b.runs)[i];
    run.count = at<uint32_t>(b.arrivals)[run.node];
    run.start = counters[kBuildPlaced];
    counters[kBuildPlaced] += run.count;
    at<uint32_t>(b.starts)[run.node] = run.start;
  }
}

void build_scatter_host(const Build& b) {
  for_each_edge(b, [&](uint32_t from, uint32_t to) {
    at<uint32_t>(b.sources)[at<uint32_t>(b.starts)[to] + --at<uint32_t>(b.arrivals)[to]] = from;
  });
}

void build_reach_host(const Build& b) {
  uint32_t* levels = at<uint32_t>(b.arrivals);
  uint32_t* origins = at<uint32_t>(b.starts);
  for (uint32_t from = 0; from < b.size; from++) {
    if (levels[from] != b.first) {
      continue;
    }
    for (uint32_t to : read_row(b, from)) {
      if (levels[to] == kUnusedSlot) {
        levels[to] = b.first + 1;
        at<uint32_t>(b.counters)[kBuildTouched]++;
      }
      if (levels[to] == b.first + 1) {
        origins[to] = std::min(origins[to], from);
      }
    }
  }
}

void build_norms_host(const Build& b) {
  for (uint32_t i = 0; i < b.count; i++) {
    const uint32_t node = b.first + i;
    const float* vector = at<const float>(b.vectors + static_cast<uint64_t>(node) * b.vector_stride);
    float squares = 0;
    for (uint32_t d = 0; d < b.dimension; d++) {
      squares = fmaf(vector[d], vector[d], squares);
    }
    at<float>(b.inverse_norms)[node] = build_inverse_norm(squares);
  }
}

template <bool PRODUCTS>
std::string build_choose_host(const Build& b) {
  for (uint32_t i = 0; i < b.count; i++) {
    const uint32_t node = node_of(b, i);
    std::vector<uint32_t> candidates = read_row(b, node);
    if (b.found != 0) {
      const Result* result = at<const Result>(b.found + i * build_result_bytes(b.beam));
      const uint32_t* ordinals = reinterpret_cast<const uint32_t*>(result + 1);
      candidates.insert(candidates.end(), ordinals, ordinals + std::min(result->count, b.beam));
    }
    if (candidates.size() > b.candidates) {
      return std::to_string(candidates.size()) + " candidates";
    }
    write_row(b, node, prune<PRODUCTS>(b, node, sorted<PRODUCTS>(b, node, candidates)));
  }
  return check(b);
}

std::string build_append_host(const Build& b) {
  if (b.candidates < kBuildChunk) {
    return "no room for a chunk of edges";
  }
  uint32_t* counters = at<uint32_t>(b.counters);
  for (uint32_t i = 0; i < counters[kBuildTouched]; i++) {
    const BuildRun& run = at<const BuildRun>(b.runs)[i];
    std::vector<uint32_t> row = read_row(b, run.node);
    const uint32_t* sources = at<const uint32_t>(b.sources) + run.start;
    std::vector<uint32_t> edges(sources, sources + run.count);
    if (run.count <= kBuildChunk) {
      edges.erase(std::remove_if(edges.begin(), edges.end(),
                                 [&](uint32_t source) {
                                   return source == run.node ||
                                          std::find(row.begin(), row.end(), source) != row.end();
                                 }),
                  edges.end());
    }
    if (row.size() + edges.size() <= b.slots) {
      std::sort(edges.begin(), edges.end());
      row.insert(row.end(), edges.begin(), edges.end());
      write_row(b, run.node, row);
    } else {
      at<uint32_t>(b.starts)[counters[kBuildFull]++] = i;
    }
  }
  return check(b);
}

template <bool PRODUCTS>
std::string build_merge_host(const Build& b) {
  if (b.candidates < 2 * kBuildChunk) {
    return "no room for a chunk of edges";
  }
  for (uint32_t i = 0; i < at<const uint32_t>(b.counters)[kBuildFull]; i++) {
    const BuildRun& run = at<const BuildRun>(b.runs)[at<const uint32_t>(b.starts)[i]];
    std::vector<uint32_t> row = read_row(b, run.node);
    const uint32_t* sources = at<const uint32_t>(b.sources) + run.start;
    row.insert(row.end(), sources, sources + run.count);
    std::vector<uint64_t> keys = sorted<PRODUCTS>(b, run.node, row);
    keys.resize(std::min<size_t>(keys.size(), kBuildChunk));
    write_row(b, run.node, prune<PRODUCTS>(b, run.node, keys));
  }
  return check(b);
}

template std::string build_choose_host<false>(const Build& b);
template std::string build_choose_host<true>(const Build& b);
template std::string build_merge_host<false>(const Build& b);
template std::string build_merge_host<true>(const Build& b);

}  // namespace vamana
