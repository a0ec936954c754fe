// The products of src/tensor.cuh, of which this has what kernels that run on the CPU need.
#pragma once

#include "simt.h"

namespace vamana {

// Adds 16 x 32 signed bytes times 32 x 8: a lane has bytes 4t..4t+3 of rows g and g + 8 and of their second
// halves, where g is lane / 4 and t is lane % 4; the same bytes of column g, and the sums of columns 2t and
// 2t + 1 in rows g and g + 8.
inline void multiply_signed(int32_t (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  const uint32_t own = threadIdx.x % simt::kWarp;
  uint32_t rows[4][simt::kWarp];
  uint32_t columns[2][simt::kWarp];
  for (int part = 0; part < 4; part++) {
    const uint64_t* values = simt::bring(a[part]);
    for (uint32_t lane = 0; lane < simt::kWarp; lane++) {
      rows[part][lane] = static_cast<uint32_t>(values[lane]);
    }
  }
  for (int part = 0; part < 2; part++) {
    const uint64_t* values = simt::bring(part == 0 ? b0 : b1);
    for (uint32_t lane = 0; lane < simt::kWarp; lane++) {
      columns[part][lane] = static_cast<uint32_t>(values[lane]);
    }
  }
  for (uint32_t i = 0; i < 4; i++) {
    const uint32_t row = own / 4;
    const uint32_t column = own % 4 * 2 + i % 2;
    for (uint32_t part = 0; part < 2; part++) {
      for (uint32_t t = 0; t < 4; t++) {
        c[i] = __dp4a(static_cast<int32_t>(rows[2 * part + i / 2][row * 4 + t]),
                      static_cast<int32_t>(columns[part][column * 4 + t]), c[i]);
      }
    }
  }
}

}  // namespace vamana
