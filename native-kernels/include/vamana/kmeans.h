// k-means of many sets of sub-vectors at once: the parameter of the kernels, the layout of
// subspaces, and the arithmetic that device and host share. A product quantizer is trained with one
// set a subspace; k-means of whole vectors is the case of one subspace.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vamana/platform.h"

namespace vamana {

// Rows whose assignments are counted and sorted together.
constexpr uint32_t kKMeansChunk = 4096;
// Rows of a cluster that are summed up together.
constexpr uint32_t kKMeansPart = 512;
// Rows that a block of kmeans_assign_4, _8 and _16 takes.
constexpr uint32_t kKMeansShortRows = 1024;
// Rows that a block of kmeans_assign_tile takes.
constexpr uint32_t kKMeansTileRows = 128;
// Most centroids: their counters have to fit the shared memory of a block.
constexpr uint32_t kKMeansMaxCentroids = 8192;

// State of the training of one subspace.
struct KMeansState {
  uint64_t random;  // state of the generator
  double before;    // error of the iteration before
  double error;     // squared error of the last assignment
  uint32_t done;    // not 0: iterations leave this subspace alone
  uint32_t reserved;
};

// A row that seeds may be drawn from.
struct KMeansCandidate {
  uint32_t row;
  float nearest;  // squared distance to the nearest centroid so far
};

// The only parameter of the kernels.
struct KMeans {
  uint64_t rows;        // row_stride bytes each: dims floats
  uint64_t centroids;   // floats; subspace s has k rows of length(s) from k * offset(s) on
  uint64_t codes;       // encoding: a byte a subspace, row by row; 0 when training
  uint64_t assigned;    // uint32 [subspaces][capacity]: cluster of each row
  uint64_t errors;      // float [subspaces][capacity]: squared distance to its centroid
  uint64_t counts;      // uint32 [subspaces][chunks of count][k]
  uint64_t order;       // uint32 [subspaces][capacity]: rows by cluster, ascending in each
  uint64_t starts;      // uint32 [subspaces][k + 1]: where clusters start in order
  uint64_t parts;       // uint32 [subspaces][k + 1]: where clusters start among the parts
  uint64_t sums;        // double [subspaces][part_capacity][max_length]
  uint64_t states;      // KMeansState [subspaces]; 0 when encoding
  uint64_t candidates;  // KMeansCandidate [subspaces][pool]
  uint64_t columns;     // float [subspaces][max_length][pool]: components of the candidates
  uint64_t chunk_errors;  // double [subspaces][chunks of count]
  uint64_t count;       // rows that are assigned
  uint64_t capacity;
  double tolerance;     // a gain of less than this fraction ends the iterations of a subspace
  uint32_t dims;
  uint32_t subspaces;
  uint32_t k;
  uint32_t row_stride;
  uint32_t pool;
  uint32_t part_capacity;
  uint32_t max_length;
  uint32_t first;       // kmeans_fill: draw all centroids, not only centroids of empty clusters
  uint32_t step;        // kmeans_draw, kmeans_near: ordinal of a centroid
  uint32_t reserved;
};

static_assert(sizeof(KMeansState) == 32, "KMeansState");
static_assert(sizeof(KMeansCandidate) == 8, "KMeansCandidate");
static_assert(sizeof(KMeans) == 176, "KMeans");

// The first component of subspace s; the first dims % subspaces have one component more.
VAMANA_HD uint32_t subspace_offset(const KMeans& p, uint32_t s) {
  const uint32_t longer = p.dims % p.subspaces;
  return s * (p.dims / p.subspaces) + (s < longer ? s : longer);
}

VAMANA_HD uint32_t subspace_length(const KMeans& p, uint32_t s) {
  return p.dims / p.subspaces + (s < p.dims % p.subspaces ? 1 : 0);
}

// The subspace of a component.
VAMANA_HD uint32_t subspace_of(const KMeans& p, uint32_t dimension) {
  const uint32_t shorter = p.dims / p.subspaces;
  const uint32_t longer = p.dims % p.subspaces;
  const uint32_t edge = longer * (shorter + 1);
  return dimension < edge ? dimension / (shorter + 1) : longer + (dimension - edge) / shorter;
}

VAMANA_HD uint64_t kmeans_chunks(const KMeans& p) {
  return (p.count + kKMeansChunk - 1) / kKMeansChunk;
}

// sum + (x - c)^2, each step rounded, as Java does it.
VAMANA_HD float add_square(float sum, float x, float c) {
#if defined(__CUDA_ARCH__)
  const float difference = __fsub_rn(x, c);
  return __fadd_rn(sum, __fmul_rn(difference, difference));
#else
  const float difference = x - c;
  return sum + difference * difference;
#endif
}

// java.util.SplittableRandom's nextDouble: at least 0, below 1.
VAMANA_HD double next_double(uint64_t& state) {
  state += 0x9E3779B97F4A7C15ull;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1.0p-53;
}

// Whether the iteration that was just made is a subspace's last.
VAMANA_HD bool kmeans_ends(double error, double before, double tolerance) {
  return error == 0 || error >= before * (1 - tolerance);
}

}  // namespace vamana
