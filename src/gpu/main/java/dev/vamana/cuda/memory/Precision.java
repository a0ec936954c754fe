package dev.vamana.cuda.memory;

import java.util.Locale;

/** Form of the vectors from which a walk on the device computes distances. */
public enum Precision {
  /** The raw vectors: walks compute exact distances. Byte vectors have one byte a component. */
  FLOAT32,
  /** Half-precision copies of the vectors. */
  FLOAT16,
  /** Copies of one byte a component. */
  INT8,
  /** Product quantization codes. */
  PQ;

  /** Returns the name in settings, for instance {@code float32}. */
  public String settingName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
