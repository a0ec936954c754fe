#define VAMANA_STEP 7
#include "walk_step.cuh"

VAMANA_STEP_WALK(joined)
