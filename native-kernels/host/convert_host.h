// The conversion and probe kernels on the calling thread. Addresses are the host's.
#pragma once

#include "vamana/convert.h"
#include "vamana/probe.h"

namespace vamana {

void convert_range_host(const Range& range);
void convert_float16_host(const Convert& convert);
void convert_byte_host(const Convert& convert);
void probe_copy_host(const Probe& probe);
void probe_gather_host(const Probe& probe);
void probe_chase_host(const Probe& probe);

}  // namespace vamana
