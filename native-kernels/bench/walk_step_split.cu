#define VAMANA_STEP 127
#include "walk_step.cuh"

VAMANA_STEP_WALK(split)
