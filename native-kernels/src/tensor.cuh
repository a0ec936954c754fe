// Tensor core products of a tile of 16 rows and 8 columns, and the copies that feed them. From compute
// capability 8.0 on each is one instruction. 7.5 has smaller products, which are put together here, and
// copies through registers, which are done before the thread goes on.
#pragma once

#include <cstdint>

namespace vamana {

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void load_matrices(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

#if __CUDA_ARCH__ >= 800

// Adds 16 x 16 halves times 16 x 8 halves.
__device__ __forceinline__ void multiply_halves(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                                uint32_t b1) {
  asm(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Adds 16 x 32 unsigned bytes times 32 x 8.
__device__ __forceinline__ void multiply_unsigned(int32_t (&c)[4], const uint32_t (&a)[4],
                                                  uint32_t b0, uint32_t b1) {
  asm(
      "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Adds 16 x 32 signed bytes times 32 x 8.
__device__ __forceinline__ void multiply_signed(int32_t (&c)[4], const uint32_t (&a)[4],
                                                uint32_t b0, uint32_t b1) {
  asm(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The same products, added to a number.
__device__ __forceinline__ void begin_signed(int32_t (&c)[4], int32_t number,
                                             const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%10,%10,%10,%10};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(number));
}

// Copies 16 bytes to shared memory; they are there after await_copies.
__device__ __forceinline__ void copy_async(uint32_t target, const void* source) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(source));
}

__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;"); }

template <int PENDING>
__device__ __forceinline__ void await_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING));
}

#else

__device__ __forceinline__ void multiply_halves(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                                uint32_t b1) {
  asm(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(b0));
  asm(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[2]), "r"(a[3]), "r"(b1));
}

__device__ __forceinline__ void multiply_eight_unsigned(int32_t& c0, int32_t& c1, uint32_t a,
                                                        uint32_t b) {
  asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
      : "+r"(c0), "+r"(c1)
      : "r"(a), "r"(b));
}

__device__ __forceinline__ void multiply_eight_signed(int32_t& c0, int32_t& c1, uint32_t a,
                                                      uint32_t b) {
  asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
      : "+r"(c0), "+r"(c1)
      : "r"(a), "r"(b));
}

__device__ __forceinline__ void multiply_unsigned(int32_t (&c)[4], const uint32_t (&a)[4],
                                                  uint32_t b0, uint32_t b1) {
  multiply_eight_unsigned(c[0], c[1], a[0], b0);
  multiply_eight_unsigned(c[0], c[1], a[2], b1);
  multiply_eight_unsigned(c[2], c[3], a[1], b0);
  multiply_eight_unsigned(c[2], c[3], a[3], b1);
}

__device__ __forceinline__ void multiply_signed(int32_t (&c)[4], const uint32_t (&a)[4],
                                                uint32_t b0, uint32_t b1) {
  multiply_eight_signed(c[0], c[1], a[0], b0);
  multiply_eight_signed(c[0], c[1], a[2], b1);
  multiply_eight_signed(c[2], c[3], a[1], b0);
  multiply_eight_signed(c[2], c[3], a[3], b1);
}

__device__ __forceinline__ void begin_signed(int32_t (&c)[4], int32_t number,
                                             const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    c[i] = number;
  }
  multiply_signed(c, a, b0, b1);
}

__device__ __forceinline__ void copy_async(uint32_t target, const void* source) {
  const uint4 piece = *static_cast<const uint4*>(source);
  asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(target), "r"(piece.x), "r"(piece.y),
               "r"(piece.z), "r"(piece.w)
               : "memory");
}

__device__ __forceinline__ void commit_copies() {}

template <int PENDING>
__device__ __forceinline__ void await_copies() {}

#endif

// The same to a place in shared memory.
__device__ __forceinline__ void copy_to_shared(void* target, const void* source) {
  copy_async(shared_address(target), source);
}

}  // namespace vamana
