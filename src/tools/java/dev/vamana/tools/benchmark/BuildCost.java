package dev.vamana.tools.benchmark;

/**
 * What a step of a build took.
 *
 * @param cpuSeconds CPU time of all Java threads, without compiler and collector threads
 * @param wallSeconds elapsed time
 * @param peakHeapMb highest live heap above that before the step, in units of 2^20 bytes
 */
record BuildCost(double cpuSeconds, double wallSeconds, double peakHeapMb) {
  static final BuildCost NONE = new BuildCost(0, 0, 0);
}
