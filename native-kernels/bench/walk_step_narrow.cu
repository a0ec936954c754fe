#define VAMANA_STEP 15
#include "walk_step.cuh"

VAMANA_STEP_WALK(narrow)
