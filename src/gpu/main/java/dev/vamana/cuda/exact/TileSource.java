package dev.vamana.cuda.exact;

import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.PinnedBuffer;
import dev.vamana.vectors.ArrayCopy;
import java.util.function.Consumer;

/**
 * Divides the candidates of a search into tiles. {@link ExactScans} takes a search tile by tile
 * from it.
 */
final class TileSource {

  /**
   * Some of the candidates, whose rows the device can read.
   *
   * @param rows address of the rows
   * @param stride bytes between rows
   * @param size number of rows
   * @param firstOrdinal ordinal of the first row; 0 with {@code ordinals}
   * @param ordinals address of the candidates' ordinals, or 0 if all rows are candidates
   * @param candidates number of candidates
   */
  record Tile(long rows, int stride, int size, int firstOrdinal, long ordinals, int candidates) {}

  private final DriverObjects objects;
  private final PinnedBuffer pinnedOrdinals;
  private final DeviceBuffer deviceOrdinals;

  TileSource(DriverObjects objects) {
    this.objects = objects;
    pinnedOrdinals = objects.pinned();
    deviceOrdinals = objects.device();
  }

  /**
   * Returns the number of tiles that {@link #forEach} makes, of at most {@code most} candidates
   * each.
   */
  int count(ExactRows rows, ExactBatch batch, int most) {
    return (candidates(rows, batch) + most - 1) / most;
  }

  static int candidates(ExactRows rows, ExactBatch batch) {
    return batch.ordinals() == null ? rows.size() : batch.ordinals().length;
  }

  /**
   * Runs the body for every tile, in stream order. It launches without waiting.
   *
   * @param stream stream in which the body launches
   */
  void forEach(ExactRows rows, ExactBatch batch, int most, long stream, Consumer<Tile> body) {
    int candidates = candidates(rows, batch);
    long ordinals = batch.ordinals() == null ? 0 : stageOrdinals(batch.ordinals(), stream);
    for (int first = 0; first < candidates; first += most) {
      body.accept(tile(rows, ordinals, first, Math.min(most, candidates - first)));
    }
  }

  private static Tile tile(ExactRows rows, long ordinals, int first, int count) {
    if (ordinals != 0) {
      long own = ordinals + (long) first * Integer.BYTES;
      return new Tile(rows.address(), rows.stride(), rows.size(), 0, own, count);
    }
    long address = rows.address() + (long) first * rows.stride();
    return new Tile(address, rows.stride(), count, first, 0, count);
  }

  private long stageOrdinals(int[] ordinals, long stream) {
    long bytes = (long) ordinals.length * Integer.BYTES;
    if (bytes == 0) {
      return 0;
    }
    pinnedOrdinals.ensure(bytes);
    ArrayCopy.toMemory(ordinals, 0, pinnedOrdinals.segment(), 0, ordinals.length);
    long address = deviceOrdinals.ensure(bytes);
    objects.driver().copyToDevice(address, pinnedOrdinals.segment().asSlice(0, bytes), stream);
    return address;
  }
}
