package dev.vamana.tools.benchmark;

/**
 * The cost of one step of a build.
 *
 * @param cpuSeconds CPU time of all Java threads, without compiler and collector threads
 * @param wallSeconds elapsed time
 * @param peakHeapMb peak live heap minus the live heap before the step, in units of 2^20 bytes
 */
record BuildCost(double cpuSeconds, double wallSeconds, double peakHeapMb) {
  static final BuildCost NONE = new BuildCost(0, 0, 0);
}
