#define VAMANA_STEP 31
#include "walk_step.cuh"

VAMANA_STEP_WALK(few)
