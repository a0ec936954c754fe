// The products of src/tensor.cuh, of which this has what kernels that run on the CPU need.
#pragma once

#include <cstring>

#include "simt.h"

namespace vamana {

// Adds 16 rows times 8 columns: a lane has a word t of rows g and g + 8 and of their second halves, where g is lane / 4
// and t is lane % 4; the same words of column g, and the sums of columns 2t and 2t + 1 in rows g and g + 8. `dot` adds
// the products of two words to a sum.
template <class Sum, class Dot>
void multiply(Sum (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, Dot dot) {
  struct Brought {
    uint32_t a[4];
    uint32_t b[2];
  };
  const uint64_t* brought = simt::bring(simt::kValues, Brought{{a[0], a[1], a[2], a[3]}, {b0, b1}});
  const uint32_t own = threadIdx.x % simt::kLanes;
  for (uint32_t t = 0; t < 4; t++) {
    const Brought row = simt::read<Brought>(brought, own / 4 * 4 + t);
    for (uint32_t right = 0; right < 2; right++) {
      const Brought column = simt::read<Brought>(brought, (own % 4 * 2 + right) * 4 + t);
      for (uint32_t part = 0; part < 2; part++) {
        c[right] = dot(row.a[2 * part], column.b[part], c[right]);
        c[2 + right] = dot(row.a[2 * part + 1], column.b[part], c[2 + right]);
      }
    }
  }
}

// Adds 16 x 32 signed bytes times 32 x 8.
inline void multiply_signed(int32_t (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  multiply(c, a, b0, b1, [](uint32_t left, uint32_t right, int32_t sum) {
    return __dp4a(static_cast<int32_t>(left), static_cast<int32_t>(right), sum);
  });
}

inline void begin_signed(int32_t (&c)[4], int32_t number, const uint32_t (&a)[4], uint32_t b0,
                         uint32_t b1) {
  for (int32_t& sum : c) {
    sum = number;
  }
  multiply_signed(c, a, b0, b1);
}

// Adds 16 x 16 halves times 16 x 8 halves: a lane has two halves side by side where multiply_signed has four bytes.
inline void multiply_halves(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  multiply(c, a, b0, b1, [](uint32_t left, uint32_t right, float sum) {
    for (uint32_t half = 0; half < 32; half += 16) {
      sum += half_value(static_cast<uint16_t>(left >> half)) *
             half_value(static_cast<uint16_t>(right >> half));
    }
    return sum;
  });
}

// Adds 16 x 32 unsigned bytes times 32 x 8.
inline void multiply_unsigned(int32_t (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  multiply(c, a, b0, b1, [](uint32_t left, uint32_t right, int32_t sum) {
    for (uint32_t byte = 0; byte < 32; byte += 8) {
      sum += static_cast<int32_t>((left >> byte & 0xFF) * (right >> byte & 0xFF));
    }
    return sum;
  });
}

inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(static_cast<const uint8_t*>(pointer) - block_memory());
}

// Loads four matrices of 8 x 8 halves. Each lane passes the address of one row, so eight lanes pass one matrix. Each
// lane gets two halves of row lane / 4 of each matrix.
inline void load_matrices(uint32_t (&r)[4], uint32_t address) {
  uint4 row;
  std::memcpy(&row, block_memory() + address, sizeof row);
  const uint64_t* brought = simt::bring(simt::kValues, row);
  const uint32_t lane = threadIdx.x % simt::kLanes;
  for (uint32_t matrix = 0; matrix < 4; matrix++) {
    const uint4 other = simt::read<uint4>(brought, matrix * 8 + lane / 4);
    const uint32_t words[4] = {other.x, other.y, other.z, other.w};
    r[matrix] = words[lane % 4];
  }
}

// Copies that are done at once.
inline void copy_async(uint32_t target, const void* source) {
  std::memcpy(block_memory() + target, source, 16);
}
inline void copy_to_shared(void* target, const void* source) { std::memcpy(target, source, 16); }
inline void commit_copies() {}
template <int PENDING>
void await_copies() {}

}  // namespace vamana
