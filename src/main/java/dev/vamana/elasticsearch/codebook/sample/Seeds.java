package dev.vamana.elasticsearch.codebook.sample;

import java.nio.ByteBuffer;
import org.apache.lucene.util.StringHelper;

/** Makes seeds for random choices that need not be repeatable. */
public final class Seeds {
  private Seeds() {}

  /** Returns a seed that is practically unique. */
  public static long next() {
    return ByteBuffer.wrap(StringHelper.randomId()).getLong(StringHelper.ID_LENGTH - Long.BYTES);
  }
}
