package dev.vamana.tools.demo;

/**
 * One row of the comparison: an index, and whether the GPU may answer.
 *
 * @param index which index is asked
 * @param label for tables and plots
 * @param plan value of {@code vamana.gpu.plan} while the index is asked; null leaves the node as it
 *     is
 * @param ours whether the plugin answers, so that its statistics tell who did
 */
record Lane(KnnIndex index, String label, String plan, boolean ours) {

  /** The plan with which the GPU answers nothing. */
  static final String CPU = "cpu";

  /** Whether the GPU may answer. */
  boolean gpu() {
    return plan != null && plan.equals(CPU) == false;
  }
}
