package dev.vamana.cuda.batch;

/** Packs or reads some of a chunk's items. Several threads call it at once, for different ones. */
@FunctionalInterface
public interface Share {
  /** Takes the items from..to-1. */
  void take(int from, int to);
}
