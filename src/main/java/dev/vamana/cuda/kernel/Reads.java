package dev.vamana.cuda.kernel;

/** What of a segment a walk compares. */
public enum Reads {
  /** Vectors of 32-bit floats. */
  FLOAT32,
  /** Vectors of 16-bit floats. */
  FLOAT16,
  /** Vectors of bytes. */
  BYTE,
  /** Codes. */
  CODES
}
