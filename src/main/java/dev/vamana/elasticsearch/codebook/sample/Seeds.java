package dev.vamana.elasticsearch.codebook.sample;

import java.nio.ByteBuffer;
import org.apache.lucene.util.StringHelper;

/** Seeds of random choices that nothing else has to repeat. */
public final class Seeds {
  private Seeds() {}

  /** A seed that differs from all others. */
  public static long next() {
    return ByteBuffer.wrap(StringHelper.randomId()).getLong(StringHelper.ID_LENGTH - Long.BYTES);
  }
}
