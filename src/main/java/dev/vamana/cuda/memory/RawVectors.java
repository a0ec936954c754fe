package dev.vamana.cuda.memory;

/** Where kernels find the vectors that hits are re-ranked from. */
public enum RawVectors {
  /** On the device. */
  DEVICE,
  /** In the mapped file. */
  MAPPED,
  /** Nowhere: the caller re-ranks. */
  CALLER
}
