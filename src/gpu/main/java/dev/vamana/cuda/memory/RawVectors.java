package dev.vamana.cuda.memory;

/** Where kernels read the raw vectors for re-ranking. */
public enum RawVectors {
  /** In device memory. */
  DEVICE,
  /** In the mapped file. */
  MAPPED,
  /** Nowhere: the caller re-ranks. */
  CALLER
}
