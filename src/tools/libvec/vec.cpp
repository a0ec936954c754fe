// Distance functions for the stock index of measured nodes. Elasticsearch's distribution ships such functions in
// libvec.so; the node of this project is assembled from Maven Central, which has no libvec, so it would score in Java.
// The names and signatures are those that the classes of 9.5.4 look up. All of them have to be there, but only some
// are called by the indices that are measured, and only those are written for speed: float32, bytes of 0 to 127
// (int8_hnsw), one bit beside four (bbq_hnsw), and the corrections of the latter.
//
// A function is vec_ + dot, sqr or cos + type. With no suffix it takes (row, query, n) and returns the value. Others
// fill `out`: _bulk has rows one after the other, _bulk_offsets has row i at rows + offsets[i] * pitch, _bulk_sparse
// at rows[i]. n counts components (float32, bfloat16, bytes) or bytes of a row (packed four bits, planes of bits).
// int vec_caps() is 0 for none. The library lies in lib/platform/linux-x64 of a node's home.
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#define EXPORT extern "C" __attribute__((visibility("default")))
#define INLINE static inline __attribute__((always_inline))

#ifdef __AVX512F__
typedef float V __attribute__((vector_size(64), aligned(4), may_alias));
#else
typedef float V __attribute__((vector_size(32), aligned(4), may_alias));
#endif
constexpr int LANES = sizeof(V) / sizeof(float);
typedef float V16 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t I32 __attribute__((vector_size(32)));
typedef const uint8_t* Bytes;

EXPORT int vec_caps() { return 2; }

INLINE void ask(Bytes row, int bytes) {
  for (int i = 0; i < bytes; i += 64) __builtin_prefetch(row + i);
  __builtin_prefetch(row + bytes - 1);
}

// Four rows at a time, so that their loads are in flight together; `next` are the rows to ask for meanwhile.
template <class K, class At>
INLINE void bulk(Bytes query, int n, int bytes, int count, float* out, At at) {
  for (int i = 0; i < std::min(4, count); i++) ask(at(i), std::min(bytes, 512));
  for (int i = 0; i < count; i += 4) {
    Bytes rows[4], next[4];
    for (int j = 0; j < 4; j++) {
      rows[j] = at(std::min(i + j, count - 1));
      next[j] = at(std::min(i + 4 + j, count - 1));
    }
    float four[4];
    K::four(rows, next, query, n, four);
    memcpy(out + i, four, sizeof(float) * std::min(4, count - i));
  }
}

#define FUNCTIONS(NAME, RESULT, K, ROW_BYTES)                                                                \
  EXPORT RESULT NAME(Bytes row, Bytes query, int32_t n) { return K::one(row, query, n); }                    \
  BULKS(NAME, K, ROW_BYTES)
#define BULKS(NAME, K, ROW_BYTES)                                                                            \
  EXPORT void NAME##_bulk(Bytes rows, Bytes query, int32_t n, int32_t count, float* out) {                   \
    bulk<K>(query, n, ROW_BYTES, count, out, [=](int i) { return rows + (int64_t)i * (ROW_BYTES); });                   \
  }                                                                                                          \
  EXPORT void NAME##_bulk_offsets(Bytes rows, Bytes query, int32_t n, int32_t pitch, const int32_t* offsets, \
                                  int32_t count, float* out) {                                               \
    bulk<K>(query, n, ROW_BYTES, count, out, [=](int i) { return rows + (int64_t)offsets[i] * pitch; });                \
  }                                                                                                          \
  EXPORT void NAME##_bulk_sparse(const Bytes* rows, Bytes query, int32_t n, int32_t count, float* out) {     \
    bulk<K>(query, n, ROW_BYTES, count, out, [=](int i) { return rows[i]; });                                           \
  }

enum Op { DOT, SQR, COS };

template <Op OP, class V>
INLINE V step(V sum, V query, V row) {
  V other = OP == DOT ? query : query - row;
  return sum + (OP == DOT ? row : other) * other;
}

// The first components, and zeros.
INLINE V part(const float* from, int count) {
#ifdef __AVX512F__
  return _mm512_maskz_loadu_ps((__mmask16)(count >= 16 ? 0xFFFF : (1 << count) - 1), from);
#else
  __m256i place = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
  return _mm256_maskload_ps(from, _mm256_cmpgt_epi32(_mm256_set1_epi32(count), place));
#endif
}

INLINE __m128 fold(V sums) {
#ifdef __AVX512F__
  __m256 half = _mm512_castps512_ps256(sums) + _mm512_extractf32x8_ps(sums, 1);
#else
  __m256 half = sums;
#endif
  return _mm256_castps256_ps128(half) + _mm256_extractf128_ps(half, 1);
}

template <Op OP>
struct Float32 {
  template <int R>
  INLINE void sums(const Bytes* rows, const Bytes* next, Bytes query, int n, float* out) {
    const float* q = (const float*)query;
    V a[R] = {}, b[R] = {};
    int i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
      for (int j = 0; j < R; j++) {
        const float* v = (const float*)rows[j] + i;
        __builtin_prefetch(next[j] + 4 * i);
        if (sizeof(V) == 64) __builtin_prefetch(next[j] + 4 * i + 64);
        a[j] = step<OP>(a[j], *(const V*)(q + i), *(const V*)v);
        b[j] = step<OP>(b[j], *(const V*)(q + i + LANES), *(const V*)(v + LANES));
      }
    }
    for (; i < n; i += LANES) {
      V own = part(q + i, n - i);
      for (int j = 0; j < R; j++) a[j] = step<OP>(a[j], own, part((const float*)rows[j] + i, n - i));
    }
    __m128 four[4] = {};
    for (int j = 0; j < R; j++) four[j] = fold(a[j] + b[j]);
    __m128 all = _mm_hadd_ps(_mm_hadd_ps(four[0], four[1]), _mm_hadd_ps(four[2], four[3]));
    memcpy(out, &all, sizeof(float) * R);
  }
  INLINE void four(const Bytes* rows, const Bytes* next, Bytes query, int n, float* out) {
    sums<4>(rows, next, query, n, out);
  }
  INLINE float one(Bytes row, Bytes query, int n) {
    float sum;
    sums<1>(&row, &row, query, n, &sum);
    return sum;
  }
};
FUNCTIONS(vec_dotf32, float, Float32<DOT>, 4 * n)
FUNCTIONS(vec_sqrf32, float, Float32<SQR>, 4 * n)

// Bytes of 0 to 127: products of two neighbours fit into 16 bits.
template <Op OP>
struct Int7 {
  template <int R>
  INLINE void sums(const Bytes* rows, const Bytes* next, Bytes query, int n, int32_t* out) {
    int i = 0;
#ifdef __AVX512VNNI__
    __m512i a[R] = {};
    for (; i < n; i += 64) {
      __mmask64 m = n - i >= 64 ? ~0ULL : (1ULL << (n - i)) - 1;
      __m512i query64 = _mm512_maskz_loadu_epi8(m, query + i);
      for (int j = 0; j < R; j++) {
        __builtin_prefetch(next[j] + i);
        __m512i q = query64, v = _mm512_maskz_loadu_epi8(m, rows[j] + i);
        if (OP == SQR) q = v = _mm512_abs_epi8(_mm512_sub_epi8(q, v));
        a[j] = _mm512_dpbusd_epi32(a[j], q, v);
      }
    }
    for (int j = 0; j < R; j++) out[j] = _mm512_reduce_add_epi32(a[j]);
#else
    __m256i a[R] = {}, ones = _mm256_set1_epi16(1);
    for (; i + 32 <= n; i += 32) {
      __m256i query32 = _mm256_loadu_si256((const __m256i*)(query + i));
      for (int j = 0; j < R; j++) {
        __builtin_prefetch(next[j] + i);
        __m256i q = query32, v = _mm256_loadu_si256((const __m256i*)(rows[j] + i));
        if (OP == SQR) q = v = _mm256_abs_epi8(_mm256_sub_epi8(q, v));
        a[j] = _mm256_add_epi32(a[j], _mm256_madd_epi16(_mm256_maddubs_epi16(q, v), ones));
      }
    }
    for (int j = 0; j < R; j++) {
      out[j] = 0;
      for (int k = 0; k < 8; k++) out[j] += ((I32)a[j])[k];
      for (int k = i; k < n; k++) out[j] = step<OP>(out[j], (int32_t)query[k], (int32_t)rows[j][k]);
    }
#endif
  }
  INLINE void four(const Bytes* rows, const Bytes* next, Bytes query, int n, float* out) {
    int32_t all[4];
    for (int j = 0; j < 4; j++) __builtin_prefetch(next[j] + n);  // the corrections behind a row
    sums<4>(rows, next, query, n, all);
    for (int j = 0; j < 4; j++) out[j] = (float)all[j];
  }
  INLINE int32_t one(Bytes row, Bytes query, int n) {
    int32_t sum;
    sums<1>(&row, &row, query, n, &sum);
    return sum;
  }
};
FUNCTIONS(vec_doti7u, int32_t, Int7<DOT>, n)
FUNCTIONS(vec_sqri7u, int32_t, Int7<SQR>, n)

// Row by row, for types that no measured index uses.
template <class K>
struct Plain : K {
  INLINE void four(const Bytes* rows, const Bytes*, Bytes query, int n, float* out) {
    for (int j = 0; j < 4; j++) out[j] = (float)K::one(rows[j], query, n);
  }
};

INLINE float widen(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

template <Op OP, bool QUERY_BF16>
struct Bfloat16 {
  INLINE float one(Bytes row, Bytes query, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) {
      float q = QUERY_BF16 ? widen(((const uint16_t*)query)[i]) : ((const float*)query)[i];
      sum = step<OP>(sum, q, widen(((const uint16_t*)row)[i]));
    }
    return sum;
  }
};
typedef Plain<Bfloat16<DOT, true>> DotBb;
typedef Plain<Bfloat16<DOT, false>> DotBf;
typedef Plain<Bfloat16<SQR, true>> SqrBb;
typedef Plain<Bfloat16<SQR, false>> SqrBf;
FUNCTIONS(vec_dotDbf16Qbf16, float, DotBb, 2 * n)
FUNCTIONS(vec_dotDbf16Qf32, float, DotBf, 2 * n)
FUNCTIONS(vec_sqrDbf16Qbf16, float, SqrBb, 2 * n)
FUNCTIONS(vec_sqrDbf16Qf32, float, SqrBf, 2 * n)

template <Op OP>
struct Int8 {
  INLINE float one(Bytes row, Bytes query, int n) {
    const int8_t *q = (const int8_t*)query, *v = (const int8_t*)row;
    int32_t sum = 0, rows = 0, queries = 0;
    for (int i = 0; i < n; i++) {
      sum = step<OP == SQR ? SQR : DOT>(sum, (int32_t)q[i], (int32_t)v[i]);
      rows += v[i] * v[i];
      queries += q[i] * q[i];
    }
    return OP == COS ? (float)(sum / std::sqrt((double)rows * queries)) : (float)sum;
  }
};
FUNCTIONS(vec_cosi8, float, Plain<Int8<COS>>, n)
FUNCTIONS(vec_doti8, float, Plain<Int8<DOT>>, n)
FUNCTIONS(vec_sqri8, float, Plain<Int8<SQR>>, n)

// Byte i of a row has component i above and component i + n below; the query has a byte for each.
struct Int4 {
  INLINE int32_t one(Bytes row, Bytes query, int n) {
    int32_t sum = 0;
    for (int i = 0; i < n; i++) sum += query[i] * (row[i] >> 4) + query[n + i] * (row[i] & 15);
    return sum;
  }
};
EXPORT int32_t vec_doti4(Bytes query, Bytes row, int32_t n) { return Int4::one(row, query, n); }
BULKS(vec_doti4, Plain<Int4>, n)

// D planes of bits of a row beside Q planes of the query; plane p weighs 2^p.
template <int D, int Q>
struct Bits {
  INLINE int64_t one(Bytes row, Bytes query, int n) {
    const int length = n / D;
    int64_t sum = 0;
    for (int d = 0; d < D; d++) {
      for (int p = 0; p < Q; p++) {
        Bytes a = row + d * length, b = query + p * length;
        int64_t bits = 0;
        int i = 0;
        for (; i + 8 <= length; i += 8) {
          bits += __builtin_popcountll(*(const uint64_t*)(a + i) & *(const uint64_t*)(b + i));
        }
        for (; i < length; i++) bits += __builtin_popcount(a[i] & b[i]);
        sum += bits << (d + p);
      }
    }
    return sum;
  }
};

// One bit beside four: 16 bytes of a row at a time beside all four planes.
struct OneBit : Bits<1, 4> {
  INLINE void four(const Bytes* rows, const Bytes* next, Bytes query, int n, float* out) {
    for (int j = 0; j < 4; j++) ask(next[j], n + 14);  // with the corrections behind a row
#ifdef __AVX512VPOPCNTDQ__
    const __m512i weights = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0);
    __m512i a[4] = {};
    for (int i = 0; i < n; i += 16) {
      __mmask16 m = (__mmask16)(n - i >= 16 ? 0xFFFF : (1 << (n - i)) - 1);
      __m512i q = _mm512_castsi128_si512(_mm_maskz_loadu_epi8(m, query + i));
      q = _mm512_inserti64x2(q, _mm_maskz_loadu_epi8(m, query + n + i), 1);
      q = _mm512_inserti64x2(q, _mm_maskz_loadu_epi8(m, query + 2 * n + i), 2);
      q = _mm512_inserti64x2(q, _mm_maskz_loadu_epi8(m, query + 3 * n + i), 3);
      for (int j = 0; j < 4; j++) {
        __m512i v = _mm512_broadcast_i64x2(_mm_maskz_loadu_epi8(m, rows[j] + i));
        a[j] = _mm512_add_epi64(a[j], _mm512_popcnt_epi64(_mm512_and_si512(q, v)));
      }
    }
    for (int j = 0; j < 4; j++) out[j] = (float)_mm512_reduce_add_epi64(_mm512_sllv_epi64(a[j], weights));
#else
    for (int j = 0; j < 4; j++) out[j] = (float)one(rows[j], query, n);
#endif
  }
};
typedef Plain<Bits<1, 1>> Bits11;
typedef Plain<Bits<2, 2>> Bits22;
typedef Plain<Bits<2, 4>> Bits24;
typedef Plain<Bits<4, 4>> Bits44;
FUNCTIONS(vec_dotd1q1, int64_t, Bits11, n)
FUNCTIONS(vec_dotd1q4, int64_t, OneBit, n)
FUNCTIONS(vec_dotd2q2, int64_t, Bits22, n)
FUNCTIONS(vec_dotd2q4, int64_t, Bits24, n)
FUNCTIONS(vec_dotd4q4, int64_t, Bits44, n)

// Four components a byte, the first in the highest bits; the query has a byte for each, in four runs.
struct Packed {
  INLINE int64_t one(Bytes row, Bytes query, int n) {
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
      for (int r = 0; r < 4; r++) sum += query[r * n + i] * (row[i] >> (6 - 2 * r) & 3);
    }
    return sum;
  }
};
FUNCTIONS(vec_dotd2q4_packed, int64_t, Plain<Packed>, n)

// Corrections turn sums of quantized components into scores, given both quantization intervals.
enum Similarity { EUCLIDEAN, DOT_PRODUCT, MAX_INNER_PRODUCT };

struct Query {
  float lower, width, sum, additional, dims, centroid, index_scale;
};

template <Similarity S, bool CLAMP>
INLINE V16 score(const Query& q, V16 lower, V16 upper, V16 sum, V16 additional, V16 dot) {
  V16 lx = (upper - lower) * q.index_scale, zero = {};
  V16 s = lower * q.lower * q.dims + q.lower * lx * sum + lower * q.width * q.sum + lx * q.width * dot;
  V16 both = additional + q.additional;
  if (S == EUCLIDEAN) {
    s = both - 2 * s;
    if (CLAMP) return 1 / (1 + (s > zero ? s : zero));
    V16 inverse = 1 / (1 + s);
    return inverse > zero ? inverse : zero;
  }
  s = s + both - q.centroid;
  if (S == MAX_INNER_PRODUCT) return s < zero ? 1 / (1 - s) : s + 1;
  if (CLAMP) {
    s = s > zero + 1 ? zero + 1 : s;
    s = s < zero - 1 ? zero - 1 : s;
  }
  s = (1 + s) * 0.5f;
  return s > zero ? s : zero;
}

// Writes the scores of rows whose corrections `read` puts into four lanes; returns the greatest.
template <Similarity S, bool CLAMP, class Read>
INLINE float corrected(const Query& q, int count, float* scores, Read read) {
  float most = -INFINITY;
  for (int i = 0; i < count; i += 4) {
    V16 lower, upper, sum, additional, dot;
    for (int j = 0; j < 4; j++) {
      int row = std::min(i + j, count - 1);
      float l, u, s, a;
      read(row, l, u, s, a);
      lower[j] = l, upper[j] = u, sum[j] = s, additional[j] = a, dot[j] = scores[row];
    }
    V16 found = score<S, CLAMP>(q, lower, upper, sum, additional, dot);
    for (int j = 0; j < std::min(4, count - i); j++) {
      scores[i + j] = found[j];
      most = std::max(most, found[j]);
    }
  }
  return most;
}

#define CORRECTIONS(NAME, S)                                                                                     \
  /* behind the codes of a row: lower, upper, additional, and the sum in 16 bits, or 32 if `wide` */            \
  EXPORT float bbq_apply_corrections_##NAME##_bulk(                                                             \
      const Bytes* rows, int32_t count, int32_t codes, int32_t, int32_t dims, float lower, float upper,          \
      int32_t sum, float additional, float scale, float index_scale, float centroid, int8_t wide,               \
      float* scores) {                                                                                          \
    Query q = {lower, (upper - lower) * scale, (float)sum, additional, (float)dims, centroid, index_scale};      \
    return corrected<S, true>(q, count, scores, [=](int i, float& l, float& u, float& s, float& a) {             \
      Bytes at = rows[i] + codes;                                                                               \
      memcpy(&l, at, 4), memcpy(&u, at + 4, 4), memcpy(&a, at + 8, 4);                                           \
      int32_t own = 0;                                                                                          \
      memcpy(&own, at + 12, 2);                                                                                 \
      if (wide) memcpy(&own, at + 12, 4);                                                                       \
      s = (float)own;                                                                                           \
    });                                                                                                         \
  }                                                                                                             \
  /* a block: all lowers, all uppers, all sums, all additional corrections */                                   \
  EXPORT float diskbbq_apply_corrections_##NAME##_bulk(                                                         \
      Bytes block, int32_t count, int32_t dims, float lower, float upper, int32_t sum, float additional,         \
      float scale, float index_scale, float centroid, float* scores) {                                          \
    Query q = {lower, (upper - lower) * scale, (float)sum, additional, (float)dims, centroid, index_scale};      \
    const float* all = (const float*)block;                                                                     \
    return corrected<S, false>(q, count, scores, [=](int i, float& l, float& u, float& s, float& a) {            \
      l = all[i], u = all[count + i], s = (float)((const int32_t*)block)[2 * count + i], a = all[3 * count + i]; \
    });                                                                                                         \
  }
CORRECTIONS(euclidean, EUCLIDEAN)
CORRECTIONS(dot_product, DOT_PRODUCT)
CORRECTIONS(maximum_inner_product, MAX_INNER_PRODUCT)
