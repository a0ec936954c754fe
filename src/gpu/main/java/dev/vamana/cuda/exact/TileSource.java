package dev.vamana.cuda.exact;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.PinnedBuffer;
import dev.vamana.vectors.ArrayCopy;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * Divides the candidates of a search into tiles. Rows in host memory are copied to the device
 * through two buffers, so that one tile is copied while another is searched. {@link ExactScans}
 * takes a search tile by tile from it.
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
   * @param packed whether row i is the i-th candidate rather than the row of its ordinal
   */
  record Tile(
      long rows,
      int stride,
      int size,
      int firstOrdinal,
      long ordinals,
      int candidates,
      boolean packed) {}

  private final DriverObjects objects;
  private final long tileBytes;
  private final PinnedBuffer pinnedOrdinals;
  private final DeviceBuffer deviceOrdinals;
  private Buffer[] buffers;
  private int turn;

  private final class Buffer {
    private final PinnedBuffer pinned = objects.pinned();
    private final DeviceBuffer device = objects.device();
    private final long stream = objects.stream();
    private final long copied = objects.event();
    private final long used = objects.event();
  }

  TileSource(DriverObjects objects, long tileBytes) {
    this.objects = objects;
    this.tileBytes = tileBytes;
    pinnedOrdinals = objects.pinned();
    deviceOrdinals = objects.device();
  }

  /**
   * Returns the number of tiles that {@link #forEach} makes, of at most {@code most} candidates
   * each.
   */
  int count(ExactRows rows, ExactBatch batch, int most) {
    int size = tileSize(rows, most);
    return (candidates(rows, batch) + size - 1) / size;
  }

  static int candidates(ExactRows rows, ExactBatch batch) {
    return batch.ordinals() == null ? rows.size() : batch.ordinals().length;
  }

  private int tileSize(ExactRows rows, int most) {
    if (rows.resident()) {
      return most;
    }
    return (int) Math.max(1, Math.min(most, tileBytes / rows.packedStride()));
  }

  /**
   * Runs the body for every tile, in stream order. It launches without waiting.
   *
   * @param stream stream in which the body launches
   */
  void forEach(ExactRows rows, ExactBatch batch, int most, long stream, Consumer<Tile> body) {
    int size = tileSize(rows, most);
    int candidates = candidates(rows, batch);
    long ordinals = batch.ordinals() == null ? 0 : stageOrdinals(batch.ordinals(), stream);
    for (int first = 0; first < candidates; first += size) {
      int count = Math.min(size, candidates - first);
      if (rows.resident()) {
        body.accept(resident(rows, ordinals, first, count));
      } else {
        Buffer buffer = next();
        Tile tile = bring(buffer, rows, batch.ordinals(), ordinals, first, count);
        objects.driver().await(buffer.copied, stream);
        body.accept(tile);
        objects.driver().record(buffer.used, stream);
      }
    }
  }

  private static Tile resident(ExactRows rows, long ordinals, int first, int count) {
    if (ordinals != 0) {
      long own = ordinals + (long) first * Integer.BYTES;
      return new Tile(rows.address(), rows.stride(), rows.size(), 0, own, count, false);
    }
    long address = rows.address() + (long) first * rows.stride();
    return new Tile(address, rows.stride(), count, first, 0, count, false);
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

  private Buffer next() {
    if (buffers == null) {
      buffers = new Buffer[] {new Buffer(), new Buffer()};
      for (Buffer buffer : buffers) {
        objects.driver().record(buffer.used, buffer.stream);
      }
    }
    Buffer buffer = buffers[turn];
    turn = (turn + 1) % buffers.length;
    objects.await(buffer.used);
    return buffer;
  }

  private Tile bring(
      Buffer buffer, ExactRows rows, int[] ordinals, long deviceOrdinals, int first, int count) {
    int stride = rows.packedStride();
    long bytes = (long) count * stride;
    buffer.pinned.ensure(bytes);
    long address = buffer.device.ensure(bytes);
    MemorySegment target = buffer.pinned.segment();
    if (ordinals == null && rows.stride() == stride) {
      long from = (long) first * stride;
      long all = Math.min(bytes, rows.host().byteSize() - from);
      MemorySegment.copy(rows.host(), from, target, 0, all);
    } else {
      long width = (long) rows.dimension() * rows.encoding().byteSize;
      for (int i = 0; i < count; i++) {
        long row = ordinals == null ? first + i : ordinals[first + i];
        MemorySegment.copy(rows.host(), row * rows.stride(), target, (long) i * stride, width);
      }
    }
    CudaDriver driver = objects.driver();
    driver.copyToDevice(address, target.asSlice(0, bytes), buffer.stream);
    driver.record(buffer.copied, buffer.stream);
    return ordinals == null
        ? new Tile(address, stride, count, first, 0, count, false)
        : new Tile(
            address, stride, count, 0, deviceOrdinals + (long) first * Integer.BYTES, count, true);
  }
}
