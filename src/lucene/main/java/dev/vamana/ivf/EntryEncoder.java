package dev.vamana.ivf;

import java.nio.ByteBuffer;

/** Makes the entries of lists, for one thread. */
interface EntryEncoder {

  /**
   * Writes the entry of a vector.
   *
   * @param residual rotated residual, {@link ListShape#padded()} components
   * @param centroid rotated centroid, as long
   * @param head receives {@link ListShape#headBytes()} bytes from {@code headAt} on, little-endian;
   *     not written if {@code headAt} is negative
   * @param tail receives {@link ListShape#tailBytes()} bytes from {@code tailAt} on, if there are
   *     any
   */
  void encode(
      int ordinal,
      float[] residual,
      float[] centroid,
      ByteBuffer head,
      int headAt,
      ByteBuffer tail,
      int tailAt);
}
