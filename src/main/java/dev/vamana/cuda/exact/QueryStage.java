package dev.vamana.cuda.exact;

import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.PinnedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.apache.lucene.index.VectorEncoding;

/** Brings queries to the device, as floats. */
final class QueryStage {

  private static final long MOST_BYTES = 64L << 20;

  private final Scratch scratch;
  private final PinnedBuffer pinned;
  private final DeviceBuffer device;

  QueryStage(Scratch scratch) {
    this.scratch = scratch;
    pinned = scratch.pinned();
    device = scratch.device();
  }

  /** Queries that are staged at once. */
  static int most(ExactRows rows) {
    return (int) (MOST_BYTES / stride(rows));
  }

  /** Bytes from one query to the next. */
  static int stride(ExactRows rows) {
    return (rows.dimension() + 3) / 4 * 16;
  }

  /**
   * Stages some queries; what was staged before must not be in use.
   *
   * @return where kernels of the stream find them
   */
  long stage(ExactRows rows, ExactBatch batch, int first, int count, long stream) {
    int stride = stride(rows);
    long bytes = (long) count * stride;
    pinned.ensure(bytes);
    MemorySegment target = pinned.segment();
    for (int q = 0; q < count; q++) {
      long at = (long) q * stride;
      if (batch.encoding() == VectorEncoding.FLOAT32) {
        float[] query = batch.floats(first + q);
        MemorySegment.copy(query, 0, target, ValueLayout.JAVA_FLOAT, at, query.length);
      } else {
        byte[] query = batch.bytes(first + q);
        for (int d = 0; d < query.length; d++) {
          target.set(ValueLayout.JAVA_FLOAT, at + (long) d * Float.BYTES, query[d]);
        }
      }
    }
    if (count == 1) {
      // read in place: less than what a copy costs
      return pinned.address();
    }
    long address = device.ensure(bytes);
    scratch.driver().copyToDevice(address, target.asSlice(0, bytes), stream);
    return address;
  }
}
