/**
 * Measures whether the CPU or the device answers faster at the present load, and keeps the better
 * of the two (docs/internals/query-plans.md, "What load may choose"). Knows neither items nor
 * devices.
 */
package dev.vamana.cuda.regime;
