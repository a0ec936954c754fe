// The products of src/tensor.cuh, of which this has what kernels that run on the CPU need.
#pragma once

#include <cstring>

#include "simt.h"

namespace vamana {

// Adds 16 x 32 signed bytes times 32 x 8: a lane has bytes 4t..4t+3 of rows g and g + 8 and of their second
// halves, where g is lane / 4 and t is lane % 4; the same bytes of column g, and the sums of columns 2t and
// 2t + 1 in rows g and g + 8.
inline void multiply_signed(int32_t (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
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
        const int32_t b = static_cast<int32_t>(column.b[part]);
        c[right] = __dp4a(static_cast<int32_t>(row.a[2 * part]), b, c[right]);
        c[2 + right] = __dp4a(static_cast<int32_t>(row.a[2 * part + 1]), b, c[2 + right]);
      }
    }
  }
}

inline void begin_signed(int32_t (&c)[4], int32_t number, const uint32_t (&a)[4], uint32_t b0,
                         uint32_t b1) {
  for (int32_t& sum : c) {
    sum = number;
  }
  multiply_signed(c, a, b0, b1);
}

// Copies that are done at once.
inline void copy_to_shared(void* target, const void* source) { std::memcpy(target, source, 16); }
inline void commit_copies() {}
template <int PENDING>
void await_copies() {}

}  // namespace vamana
