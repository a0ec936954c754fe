#define VAMANA_STEP 3
#include "walk_step.cuh"

VAMANA_STEP_WALK(keys)
