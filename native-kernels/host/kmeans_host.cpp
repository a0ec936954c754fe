#include "kmeans_host.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace vamana {

namespace {

template <typename T>
T* at(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

template <typename Component>
const Component* row_of(const KMeans& p, uint64_t row, uint32_t s) {
  return at<const Component>(p.rows + row * p.row_stride) + subspace_offset(p, s);
}

float* centroids_of(const KMeans& p, uint32_t s) {
  return at<float>(p.centroids) + static_cast<uint64_t>(p.k) * subspace_offset(p, s);
}

uint32_t* starts_of(const KMeans& p, uint32_t s) { return at<uint32_t>(p.starts) + s * (p.k + 1ull); }

uint32_t* parts_of(const KMeans& p, uint32_t s) { return at<uint32_t>(p.parts) + s * (p.k + 1ull); }

uint32_t* counts_of(const KMeans& p, uint32_t s, uint64_t chunk) {
  return at<uint32_t>(p.counts) + (s * kmeans_chunks(p) + chunk) * p.k;
}

double* part_of(const KMeans& p, uint32_t s, uint32_t part) {
  return at<double>(p.sums) + (static_cast<uint64_t>(s) * p.part_capacity + part) * p.max_length;
}

void assign(const KMeans& p, uint32_t s, uint64_t row, uint32_t centroid, float error) {
  if (p.codes != 0) {
    at<uint8_t>(p.codes)[row * p.subspaces + s] = static_cast<uint8_t>(centroid);
  } else {
    at<uint32_t>(p.assigned)[s * p.capacity + row] = centroid;
    at<float>(p.errors)[s * p.capacity + row] = error;
  }
}

template <typename Body>
void for_each_subspace(const KMeans& p, Body body) {
  for (uint32_t s = 0; s < p.subspaces; s++) {
    if (p.states == 0 || at<KMeansState>(p.states)[s].done == 0) {
      body(s);
    }
  }
}

template <typename Component>
void sum_host(const KMeans& p) {
  for_each_subspace(p, [&](uint32_t s) {
    const uint32_t* starts = starts_of(p, s);
    const uint32_t* parts = parts_of(p, s);
    const uint32_t* order = at<uint32_t>(p.order) + s * p.capacity;
    const uint32_t length = subspace_length(p, s);
    for (uint32_t c = 0; c < p.k; c++) {
      for (uint32_t part = parts[c]; part < parts[c + 1]; part++) {
        double* sum = part_of(p, s, part);
        std::fill(sum, sum + length, 0.0);
        const uint32_t from = starts[c] + (part - parts[c]) * kKMeansPart;
        const uint32_t to = std::min(starts[c + 1], from + kKMeansPart);
        for (uint32_t i = from; i < to; i++) {
          const Component* row = row_of<Component>(p, order[i], s);
          for (uint32_t d = 0; d < length; d++) {
            sum[d] += row[d];
          }
        }
      }
    }
  });
}

// Draws a candidate, or returns -1 if all coincide with a seed.
int64_t draw_from(const KMeansCandidate* candidates, size_t size, uint64_t& random) {
  double total = 0;
  for (size_t i = 0; i < size; i++) {
    total += candidates[i].nearest;
  }
  if (total == 0) {
    return -1;
  }
  double target = next_double(random) * total;
  int64_t last = -1;
  for (size_t i = 0; i < size; i++) {
    if (candidates[i].nearest > 0) {
      last = static_cast<int64_t>(i);
      target -= candidates[i].nearest;
      if (target < 0) {
        break;
      }
    }
  }
  return last;
}

// Seeding of one subspace.
template <typename Component>
class Seeding {
 public:
  Seeding(const KMeans& p, uint32_t s)
      : p_(p), s_(s), random_(at<KMeansState>(p.states)[s].random) {}

  void all() {
    collect();
    const uint32_t length = subspace_length(p_, s_);
    float* centroids = centroids_of(p_, s_);
    take(static_cast<uint32_t>(next_double(random_) * candidates_.size()), 0);
    for (uint32_t c = 1; c < p_.k; c++) {
      const int64_t chosen = draw();
      if (chosen < 0) {
        for (uint64_t i = static_cast<uint64_t>(c) * length; i < static_cast<uint64_t>(p_.k) * length; i++) {
          centroids[i] = centroids[i % length];
        }
        return;
      }
      take(static_cast<uint32_t>(chosen), c);
    }
  }

  void empty() {
    const uint32_t* starts = starts_of(p_, s_);
    for (uint32_t c = 0; c < p_.k; c++) {
      if (starts[c] != starts[c + 1]) {
        continue;
      }
      if (candidates_.empty()) {
        collect();
      }
      const int64_t chosen = draw();
      if (chosen < 0) {
        return;
      }
      take(static_cast<uint32_t>(chosen), c);
    }
  }

  uint64_t random() const { return random_; }

 private:
  void collect() {
    const float* errors = at<const float>(p_.errors) + s_ * p_.capacity;
    for (uint64_t row = 0; row < p_.count && candidates_.size() < p_.pool; row++) {
      const float error = p_.first != 0 ? std::numeric_limits<float>::infinity() : errors[row];
      if (error > 0) {
        candidates_.push_back({static_cast<uint32_t>(row), error});
      }
    }
  }

  int64_t draw() { return draw_from(candidates_.data(), candidates_.size(), random_); }

  void take(uint32_t chosen, uint32_t c) {
    const uint32_t length = subspace_length(p_, s_);
    const Component* seed = row_of<Component>(p_, candidates_[chosen].row, s_);
    std::copy(seed, seed + length, centroids_of(p_, s_) + static_cast<uint64_t>(c) * length);
    for (KMeansCandidate& candidate : candidates_) {
      const Component* row = row_of<Component>(p_, candidate.row, s_);
      float sum = 0;
      for (uint32_t d = 0; d < length; d++) {
        sum = add_square(sum, seed[d], row[d]);
      }
      candidate.nearest = std::fmin(candidate.nearest, sum);
    }
    candidates_[chosen].nearest = 0;
  }

  const KMeans& p_;
  const uint32_t s_;
  uint64_t random_;
  std::vector<KMeansCandidate> candidates_;
};

template <typename Component>
void seed_host(const KMeans& p) {
  for_each_subspace(p, [&](uint32_t s) {
    Seeding<Component> seeding(p, s);
    if (p.first != 0) {
      seeding.all();
    } else {
      seeding.empty();
    }
    at<KMeansState>(p.states)[s].random = seeding.random();
  });
}

KMeansCandidate* candidates_of(const KMeans& p, uint32_t s) {
  return at<KMeansCandidate>(p.candidates) + static_cast<uint64_t>(s) * p.pool;
}

uint32_t candidate_count(const KMeans& p) {
  return static_cast<uint32_t>(std::min<uint64_t>(p.count, p.pool));
}

// Component d of a candidate.
float& column_of(const KMeans& p, uint32_t s, uint32_t d, uint32_t candidate) {
  return at<float>(p.columns)[(static_cast<uint64_t>(s) * p.max_length + d) * p.pool + candidate];
}

template <typename Component>
void gather_host(const KMeans& p) {
  for (uint32_t s = 0; s < p.subspaces; s++) {
    for (uint32_t i = 0; i < candidate_count(p); i++) {
      const Component* row = row_of<Component>(p, i, s);
      candidates_of(p, s)[i] = {i, std::numeric_limits<float>::infinity()};
      for (uint32_t d = 0; d < subspace_length(p, s); d++) {
        column_of(p, s, d, i) = row[d];
      }
    }
  }
}

}  // namespace

void kmeans_assign_host(const KMeans& p) {
  for_each_subspace(p, [&](uint32_t s) {
    const uint32_t length = subspace_length(p, s);
    // components first, so that the compiler may take several centroids at once
    std::vector<float> columns(static_cast<size_t>(length) * p.k);
    for (uint32_t c = 0; c < p.k; c++) {
      for (uint32_t d = 0; d < length; d++) {
        columns[static_cast<size_t>(d) * p.k + c] =
            centroids_of(p, s)[static_cast<uint64_t>(c) * length + d];
      }
    }
    std::vector<float> sums(p.k);
    for (uint64_t i = 0; i < p.count; i++) {
      const float* row = row_of<float>(p, i, s);
      std::fill(sums.begin(), sums.end(), 0.0f);
      for (uint32_t d = 0; d < length; d++) {
        const float x = row[d];
        const float* column = columns.data() + static_cast<size_t>(d) * p.k;
        for (uint32_t c = 0; c < p.k; c++) {
          sums[c] = add_square(sums[c], x, column[c]);
        }
      }
      float best = std::numeric_limits<float>::infinity();
      uint32_t index = 0;
      for (uint32_t c = 0; c < p.k; c++) {
        if (sums[c] < best) {
          best = sums[c];
          index = c;
        }
      }
      assign(p, s, i, index, best);
    }
  });
}

void kmeans_fix_host(const KMeans& p) {
  for (uint32_t c = 0; c < p.k; c++) {
    const float* from = centroids_of(p, 0) + static_cast<uint64_t>(c) * p.dims;
    uint8_t* high = at<uint8_t>(p.fixed) + static_cast<uint64_t>(c) * p.fixed_stride;
    uint8_t* low = high + static_cast<uint64_t>(p.k) * p.fixed_stride;
    uint64_t squares = 0;
    for (uint32_t d = 0; d < p.fixed_stride; d++) {
      const uint32_t fixed = d < p.dims ? kmeans_fixed(from[d]) : 0;
      high[d] = static_cast<uint8_t>(fixed >> 8);
      low[d] = static_cast<uint8_t>(fixed);
      squares += static_cast<uint64_t>(fixed) * fixed;
    }
    at<int64_t>(p.keys)[c] = kmeans_key_base(squares, c);
  }
}

void kmeans_assign_bytes_host(const KMeans& p) {
  if (p.states != 0 && at<KMeansState>(p.states)->done != 0) {
    return;
  }
  for (uint64_t i = 0; i < p.count; i++) {
    const uint8_t* row = row_of<uint8_t>(p, i, 0);
    uint32_t squares = 0;
    for (uint32_t d = 0; d < p.dims; d++) {
      squares += row[d] * row[d];
    }
    int64_t nearest = std::numeric_limits<int64_t>::max();
    for (uint32_t c = 0; c < p.k; c++) {
      const uint8_t* high = at<uint8_t>(p.fixed) + static_cast<uint64_t>(c) * p.fixed_stride;
      const uint8_t* low = high + static_cast<uint64_t>(p.k) * p.fixed_stride;
      int32_t products[2] = {};
      for (uint32_t d = 0; d < p.dims; d++) {
        products[0] += row[d] * high[d];
        products[1] += row[d] * low[d];
      }
      nearest = std::min(nearest, kmeans_key(at<int64_t>(p.keys)[c], products[0], products[1]));
    }
    assign(p, 0, i, kmeans_key_centroid(nearest), kmeans_key_distance(nearest, squares));
  }
}

void kmeans_count_host(const KMeans& p) {
  for_each_subspace(p, [&](uint32_t s) {
    const uint32_t* assigned = at<uint32_t>(p.assigned) + s * p.capacity;
    for (uint64_t chunk = 0; chunk < kmeans_chunks(p); chunk++) {
      uint32_t* counts = counts_of(p, s, chunk);
      std::fill(counts, counts + p.k, 0u);
      const uint64_t end = std::min<uint64_t>(p.count, (chunk + 1) * kKMeansChunk);
      double& error = at<double>(p.chunk_errors)[s * kmeans_chunks(p) + chunk];
      error = 0;
      for (uint64_t row = chunk * kKMeansChunk; row < end; row++) {
        counts[assigned[row]]++;
        error += at<const float>(p.errors)[s * p.capacity + row];
      }
    }
  });
}

void kmeans_place_host(const KMeans& p) {
  for_each_subspace(p, [&](uint32_t s) {
    uint32_t* starts = starts_of(p, s);
    uint32_t* parts = parts_of(p, s);
    starts[0] = 0;
    parts[0] = 0;
    for (uint32_t c = 0; c < p.k; c++) {
      uint32_t place = starts[c];
      for (uint64_t chunk = 0; chunk < kmeans_chunks(p); chunk++) {
        uint32_t& count = counts_of(p, s, chunk)[c];
        const uint32_t size = count;
        count = place;
        place += size;
      }
      starts[c + 1] = place;
      parts[c + 1] = parts[c] + (place - starts[c] + kKMeansPart - 1) / kKMeansPart;
    }
  });
}

void kmeans_sort_host(const KMeans& p) {
  for_each_subspace(p, [&](uint32_t s) {
    const uint32_t* assigned = at<uint32_t>(p.assigned) + s * p.capacity;
    uint32_t* order = at<uint32_t>(p.order) + s * p.capacity;
    for (uint64_t row = 0; row < p.count; row++) {
      order[counts_of(p, s, row / kKMeansChunk)[assigned[row]]++] = static_cast<uint32_t>(row);
    }
  });
}

void kmeans_sum_float_host(const KMeans& p) { sum_host<float>(p); }

void kmeans_sum_byte_host(const KMeans& p) { sum_host<uint8_t>(p); }

void kmeans_move_host(const KMeans& p) {
  for_each_subspace(p, [&](uint32_t s) {
    const uint32_t* starts = starts_of(p, s);
    const uint32_t* parts = parts_of(p, s);
    const uint32_t length = subspace_length(p, s);
    for (uint32_t c = 0; c < p.k; c++) {
      const uint32_t size = starts[c + 1] - starts[c];
      for (uint32_t d = 0; d < length && size > 0; d++) {
        double sum = 0;
        for (uint32_t part = parts[c]; part < parts[c + 1]; part++) {
          sum += part_of(p, s, part)[d];
        }
        centroids_of(p, s)[static_cast<uint64_t>(c) * length + d] = static_cast<float>(sum / size);
      }
    }
  });
}

void kmeans_finish_host(const KMeans& p) {
  for_each_subspace(p, [&](uint32_t s) {
    double sum = 0;
    for (uint64_t chunk = 0; chunk < kmeans_chunks(p); chunk++) {
      sum += at<const double>(p.chunk_errors)[s * kmeans_chunks(p) + chunk];
    }
    KMeansState& state = at<KMeansState>(p.states)[s];
    state.error = sum;
    state.done = kmeans_ends(sum, state.before, p.tolerance) ? 1 : 0;
    state.before = sum;
  });
}

void kmeans_seed_host(const KMeans& p) { seed_host<float>(p); }

void kmeans_fill_float_host(const KMeans& p) { seed_host<float>(p); }

void kmeans_fill_byte_host(const KMeans& p) { seed_host<uint8_t>(p); }

void kmeans_gather_float_host(const KMeans& p) { gather_host<float>(p); }

void kmeans_gather_byte_host(const KMeans& p) { gather_host<uint8_t>(p); }

void kmeans_draw_host(const KMeans& p) {
  for (uint32_t s = 0; s < p.subspaces; s++) {
    uint64_t& random = at<KMeansState>(p.states)[s].random;
    const uint32_t size = candidate_count(p);
    KMeansCandidate* candidates = candidates_of(p, s);
    const int64_t chosen = p.step == 0 ? static_cast<int64_t>(next_double(random) * size)
                                       : draw_from(candidates, size, random);
    const uint32_t length = subspace_length(p, s);
    float* centroids = centroids_of(p, s);
    for (uint32_t d = 0; d < length; d++) {
      centroids[static_cast<uint64_t>(p.step) * length + d] =
          chosen < 0 ? centroids[d] : column_of(p, s, d, static_cast<uint32_t>(chosen));
    }
    if (chosen >= 0) {
      candidates[chosen].nearest = 0;
    }
  }
}

void kmeans_near_host(const KMeans& p) {
  for (uint32_t s = 0; s < p.subspaces; s++) {
    const uint32_t length = subspace_length(p, s);
    const float* centroid = centroids_of(p, s) + static_cast<uint64_t>(p.step) * length;
    for (uint32_t i = 0; i < candidate_count(p); i++) {
      float sum = 0;
      for (uint32_t d = 0; d < length; d++) {
        sum = add_square(sum, centroid[d], column_of(p, s, d, i));
      }
      float& nearest = candidates_of(p, s)[i].nearest;
      nearest = std::fmin(nearest, sum);
    }
  }
}

}  // namespace vamana
