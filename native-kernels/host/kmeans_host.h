// The kernels of k-means on the calling thread. Addresses are the host's.
#pragma once

#include "vamana/kmeans.h"

namespace vamana {

void kmeans_assign_host(const KMeans& p);
void kmeans_assign_bytes_host(const KMeans& p);
void kmeans_fix_host(const KMeans& p);
void kmeans_count_host(const KMeans& p);
void kmeans_place_host(const KMeans& p);
void kmeans_sort_host(const KMeans& p);
void kmeans_sum_float_host(const KMeans& p);
void kmeans_sum_byte_host(const KMeans& p);
void kmeans_move_host(const KMeans& p);
void kmeans_finish_host(const KMeans& p);
void kmeans_seed_host(const KMeans& p);
void kmeans_fill_float_host(const KMeans& p);
void kmeans_fill_byte_host(const KMeans& p);
void kmeans_gather_float_host(const KMeans& p);
void kmeans_gather_byte_host(const KMeans& p);
void kmeans_draw_host(const KMeans& p);
void kmeans_near_host(const KMeans& p);

}  // namespace vamana
