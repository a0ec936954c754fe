package dev.vamana.ivf;

import java.util.Arrays;
import java.util.Locale;
import org.apache.lucene.util.StringHelper;

/** The identity of centroids and their rotation: {@value #BYTES} random bytes. Immutable. */
public final class CentroidsId {

  /** Length in bytes. */
  public static final int BYTES = StringHelper.ID_LENGTH;

  private final byte[] bytes;

  /**
   * Makes an identity of its bytes.
   *
   * @param bytes {@value #BYTES} bytes, which are copied
   */
  public CentroidsId(byte[] bytes) {
    if (bytes.length != BYTES) {
      throw new IllegalArgumentException(
          "an identity has " + BYTES + " bytes, got " + bytes.length);
    }
    this.bytes = bytes.clone();
  }

  /** Makes a new identity. */
  public static CentroidsId random() {
    return new CentroidsId(StringHelper.randomId());
  }

  /** Returns a copy of the bytes. */
  public byte[] bytes() {
    return bytes.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CentroidsId that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return StringHelper.idToString(bytes).toLowerCase(Locale.ROOT);
  }
}
