package dev.vamana.search;

/** A vectors reader that can show its fields to executors and to the batched API. */
public interface SegmentViews {

  /** The view of a field, or null if the segment has no vectors of it. */
  SegmentView view(String field);
}
