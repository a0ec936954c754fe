package dev.vamana.cuda.kernel;

/** The representation of vectors that a walk reads. */
public enum Reads {
  /** Vectors of 32-bit floats. */
  FLOAT32,
  /** Vectors of 16-bit floats. */
  FLOAT16,
  /** Vectors of bytes. */
  BYTE,
  /** Product-quantization codes. */
  CODES
}
