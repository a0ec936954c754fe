/** Placement of open segments on the device: uploads, eviction, and memory budgets. */
package dev.vamana.cuda.memory;
