#define VAMANA_STEP 383
#include "walk_step.cuh"

VAMANA_STEP_WALK(apart)
