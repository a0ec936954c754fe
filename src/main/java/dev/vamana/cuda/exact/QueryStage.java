package dev.vamana.cuda.exact;

import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.PinnedBuffer;
import dev.vamana.vectors.ArrayCopy;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.apache.lucene.index.VectorEncoding;

/** Copies queries to the device, as floats. */
final class QueryStage {

  private static final long MOST_BYTES = 64L << 20;

  /** Least bytes for which several threads copy; for fewer, starting the threads takes longer. */
  private static final long LEAST_SHARED_BYTES = 1L << 20;

  private final DriverObjects objects;
  private final Workers workers;
  private final PinnedBuffer pinned;
  private final DeviceBuffer device;

  QueryStage(DriverObjects objects, Workers workers) {
    this.objects = objects;
    this.workers = workers;
    pinned = objects.pinned();
    device = objects.device();
  }

  /** Returns the most queries staged at once. */
  static int most(ExactRows rows) {
    return (int) (MOST_BYTES / stride(rows));
  }

  /** Returns the bytes between queries. */
  static int stride(ExactRows rows) {
    return (rows.dimension() + 3) / 4 * 16;
  }

  /**
   * Stages some queries. The queries staged before must not be in use.
   *
   * @return device address of the queries, for kernels of the stream
   */
  long stage(ExactRows rows, ExactBatch batch, int first, int count, long stream) {
    int stride = stride(rows);
    long bytes = (long) count * stride;
    pinned.ensure(bytes);
    MemorySegment target = pinned.segment();
    if (bytes < LEAST_SHARED_BYTES) {
      write(rows, batch, first, 0, count, target);
    } else {
      try {
        workers.forEachRange(
            0,
            count,
            () -> (from, to) -> write(rows, batch, first, from, to, target),
            AbortCheck.NEVER);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    if (count == 1) {
      // read in place, which costs less than a copy
      return pinned.address();
    }
    long address = device.ensure(bytes);
    objects.driver().copyToDevice(address, target.asSlice(0, bytes), stream);
    return address;
  }

  static void write(
      ExactRows rows, ExactBatch batch, int first, int from, int to, MemorySegment target) {
    for (int q = from; q < to; q++) {
      long at = (long) q * stride(rows);
      if (batch.encoding() == VectorEncoding.FLOAT32) {
        float[] query = batch.floats()[first + q];
        ArrayCopy.toMemory(query, 0, target, at, query.length);
      } else {
        byte[] query = batch.bytes()[first + q];
        for (int d = 0; d < query.length; d++) {
          target.set(ValueLayout.JAVA_FLOAT, at + (long) d * Float.BYTES, query[d]);
        }
      }
    }
  }
}
