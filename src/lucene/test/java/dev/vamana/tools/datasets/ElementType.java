package dev.vamana.tools.datasets;

/** How a file stores a vector component. In memory every component is a float. */
public enum ElementType {
  /** IEEE 754 single precision. */
  FLOAT32(Float.BYTES),
  /** IEEE 754 double precision, narrowed to float when read. */
  FLOAT64(Double.BYTES),
  /** Unsigned byte, 0 to 255. */
  UINT8(1),
  /** Signed byte, -128 to 127. */
  INT8(1);

  private final int bytes;

  ElementType(int bytes) {
    this.bytes = bytes;
  }

  /** Size of one component in the file, in bytes. */
  public int bytes() {
    return bytes;
  }
}
