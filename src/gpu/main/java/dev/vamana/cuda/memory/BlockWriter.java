package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * Copies parts of one segment to its block of device memory, through the upload buffers. {@link
 * SegmentUpload} has one. Files and device are both little-endian, so bytes are copied without
 * conversion.
 */
final class BlockWriter {

  private final CudaDriver driver;
  private final BounceBuffers buffers;
  private final long block;
  private final Runnable abort;
  private long copied;

  /**
   * Makes a writer, which has copied nothing.
   *
   * @param block device address of the block
   * @param abort throws when the upload should stop; called for each buffer
   */
  BlockWriter(CudaDriver driver, BounceBuffers buffers, long block, Runnable abort) {
    this.driver = driver;
    this.buffers = buffers;
    this.block = block;
    this.abort = abort;
  }

  /** Returns the bytes copied so far. */
  long copied() {
    return copied;
  }

  /** Receives some of the rows of a file, in pinned memory. */
  @FunctionalInterface
  interface RowUser {
    /** Starts work on rows {@code first} to {@code first + count - 1} in the buffer's stream. */
    void accept(BounceBuffers.Buffer buffer, MemorySegment rows, int first, int count);
  }

  /**
   * Copies an array.
   *
   * @param bytes at most {@link BounceBuffers#BYTES}
   * @param filler writes the array
   */
  void put(long offset, long bytes, Consumer<MemorySegment> filler) {
    abort.run();
    BounceBuffers.Buffer buffer = buffers.next();
    MemorySegment part = buffer.memory().asSlice(0, bytes);
    filler.accept(part);
    driver.copyToDevice(block + offset, part, buffer.stream());
    copied += bytes;
  }

  /** Copies a region as it is. */
  void put(long offset, FileRegion region) throws IOException {
    RowReader reader = new RowReader(region);
    for (long at = 0; at < region.length(); ) {
      abort.run();
      BounceBuffers.Buffer buffer = buffers.next();
      long bytes = Math.min(BounceBuffers.BYTES, region.length() - at);
      MemorySegment part = buffer.memory().asSlice(0, bytes);
      reader.read(part);
      driver.copyToDevice(block + offset + at, part, buffer.stream());
      copied += bytes;
      at += bytes;
    }
  }

  /**
   * Copies a region row by row. Rows start at multiples of 16 bytes on the device.
   *
   * @param count number of rows
   * @param width bytes of a row
   */
  void putRows(long offset, FileRegion region, int count, int width) throws IOException {
    int stride = (width + 15) & -16;
    if (stride == width) {
      put(offset, region);
      return;
    }
    driver.fill(block + offset, (byte) 0, (long) count * stride, buffers.next().stream());
    buffers.finish();
    read(
        region,
        count,
        width,
        (buffer, rows, first, number) -> {
          long target = block + offset + (long) first * stride;
          driver.copyRowsToDevice(target, stride, rows, width, number, buffer.stream());
        });
  }

  /** Reads all rows of a region into the buffers, as many at a time as fit. */
  void read(FileRegion region, int count, int width, RowUser user) throws IOException {
    RowReader reader = new RowReader(region);
    int most = BounceBuffers.BYTES / width;
    for (int row = 0; row < count; ) {
      abort.run();
      int number = Math.min(most, count - row);
      BounceBuffers.Buffer buffer = buffers.next();
      MemorySegment rows = buffer.memory().asSlice(0, (long) number * width);
      reader.read(rows);
      user.accept(buffer, rows, row, number);
      copied += rows.byteSize();
      row += number;
    }
  }
}
