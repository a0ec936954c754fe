// Marks what Java calls through JNA.
#pragma once

#define VAMANA_EXPORT extern "C" __attribute__((visibility("default")))
