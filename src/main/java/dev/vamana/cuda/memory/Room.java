package dev.vamana.cuda.memory;

/**
 * The memory that a plan may take. {@link SegmentPlacer} measures it.
 *
 * @param device free bytes on the device
 * @param mapped bytes of page cache that may be pinned
 * @param ample free bytes on the device beyond those that are kept for segments to come; plans that
 *     are taken only {@link PlacementPlan#ifRoom} may take no more
 */
record Room(long device, long mapped, long ample) {

  /** Whether a plan fits. */
  boolean fits(PlacementPlan plan) {
    return plan.deviceBytes() <= (plan.ifRoom() ? Math.min(device, ample) : device)
        && plan.mappedBytes() <= mapped;
  }
}
