#define VAMANA_STEP 63
#include "walk_step.cuh"

VAMANA_STEP_WALK(early)
