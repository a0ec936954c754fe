#define VAMANA_STEP 1
#include "walk_step.cuh"

VAMANA_STEP_WALK(pick)
