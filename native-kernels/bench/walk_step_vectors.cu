#define VAMANA_STEP 511
#include "walk_step.cuh"

VAMANA_STEP_WALK(vectors)
