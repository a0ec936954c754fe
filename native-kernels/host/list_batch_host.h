// Searches of lists by many items together: the kernels themselves, on the CPU.
#pragma once

#include <string>

#include "vamana/list_batch.h"

namespace vamana {

// Runs the step of a kernel, for instance "score_float". Returns what is wrong with its parameters, or nothing.
std::string list_batch_host(const char* step, const ListBatch& batch);

}  // namespace vamana
