package dev.vamana.cuda.memory;

import dev.vamana.vectors.ArrayCopy;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedChannelException;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.IndexInput;

/** Reads a file region into native memory, from the mapping or through an input. For one thread. */
final class RowReader {

  private static final int HEAP_BYTES = 1 << 16;

  private final FileRegion region;
  private final MemorySegment mapped;
  private final IndexInput input;
  private final byte[] heap;
  private long position;

  RowReader(FileRegion region) throws IOException {
    this.region = region;
    this.mapped = region.segment();
    this.input = mapped == null ? region.open() : null;
    this.heap = mapped == null ? new byte[HEAP_BYTES] : null;
  }

  /** Goes on at a byte of the region. */
  void seek(long position) throws IOException {
    if (mapped == null) {
      try {
        input.seek(position);
      } catch (IOException e) {
        throw closed(e);
      }
    }
    this.position = position;
  }

  /** Returns the failure that tells that the file was closed, or else throws the given one. */
  private AlreadyClosedException closed(IOException e) throws IOException {
    if (e instanceof ClosedChannelException || e.getCause() instanceof ClosedChannelException) {
      return new AlreadyClosedException("the file was closed: " + region, e);
    }
    throw e;
  }

  /**
   * Fills the target with the next bytes.
   *
   * @throws AlreadyClosedException if the file was closed
   */
  void read(MemorySegment target) throws IOException {
    long length = target.byteSize();
    if (mapped != null) {
      try {
        MemorySegment.copy(mapped, position, target, 0, length);
      } catch (IllegalStateException e) {
        throw new AlreadyClosedException("the file was closed: " + region, e);
      }
    } else {
      try {
        for (long done = 0; done < length; ) {
          int part = (int) Math.min(HEAP_BYTES, length - done);
          input.readBytes(heap, 0, part);
          ArrayCopy.toMemory(heap, 0, target, done, part);
          done += part;
        }
      } catch (IOException e) {
        throw closed(e);
      }
    }
    position += length;
  }
}
