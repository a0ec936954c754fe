package dev.vamana.graph;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.MemoryBudget;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Memory for the rows of one graph: native memory, or, where a budget or the machine has no room
 * for it, a temporary file that is mapped. Merges at the same time may need more than there is, and
 * the system would end the process.
 */
final class RowMemory implements AutoCloseable {

  private static final int ZEROS = 1 << 20;
  private static final String PREFIX = "vamana-rows";

  private final Arena arena = Arena.ofShared();
  private final MemorySegment segment;
  private final MemoryBudget budget;
  private final AbortCheck abort;
  private long reserved;

  /**
   * Allocates memory that is all zeros.
   *
   * @param bytes 0 or more
   * @param budget bounds the native memory; a file does not count
   * @param abort called before native memory is cleared, and regularly while a file is written
   * @throws IOException if the folder of temporary files has no room either, or the abort check
   *     throws
   */
  RowMemory(long bytes, MemoryBudget budget, AbortCheck abort) throws IOException {
    this(bytes, budget, abort, null);
  }

  /**
   * Allocates memory that is all zeros.
   *
   * @param folder of temporary files, null for the system's
   */
  RowMemory(long bytes, MemoryBudget budget, AbortCheck abort, Path folder) throws IOException {
    this.budget = budget;
    this.abort = abort;
    MemorySegment allocated = null;
    try {
      abort.check();
      allocated = allocate(bytes);
      if (allocated == null) {
        allocated = map(bytes, folder);
        budget.countFile();
      }
    } finally {
      if (allocated == null) {
        close();
      }
    }
    this.segment = allocated;
  }

  /** Returns null if there is no native memory. */
  private MemorySegment allocate(long bytes) {
    if (budget.reserve(bytes) == false) {
      return null;
    }
    reserved = bytes;
    try {
      return arena.allocate(bytes, Long.BYTES);
    } catch (OutOfMemoryError e) {
      // the machine has less than the budget allows; the error would end a node
      release();
      return null;
    }
  }

  private MemorySegment map(long bytes, Path folder) throws IOException {
    Path file = createFile(bytes, folder);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      // Written, not only sized: on a full disk a write fails, but access to a hole ends the JVM.
      ByteBuffer zeros = ByteBuffer.allocate(ZEROS);
      for (long done = 0; done < bytes; ) {
        abort.check();
        zeros.clear().limit((int) Math.min(ZEROS, bytes - done));
        done += write(channel, zeros, done, bytes);
      }
      return channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
    } finally {
      // the mapping keeps the content
      Files.delete(file);
    }
  }

  private Path createFile(long bytes, Path folder) throws IOException {
    try {
      return folder == null
          ? Files.createTempFile(PREFIX, null)
          : Files.createTempFile(folder, PREFIX, null);
    } catch (IOException e) {
      throw noRoom(bytes, e);
    }
  }

  private int write(FileChannel channel, ByteBuffer zeros, long at, long bytes) throws IOException {
    try {
      return channel.write(zeros, at);
    } catch (IOException e) {
      throw noRoom(bytes, e);
    }
  }

  private IOException noRoom(long bytes, IOException cause) {
    return new IOException(
        "no memory for a graph under construction: builds use "
            + budget.used()
            + " of "
            + budget.limit()
            + " bytes of native memory, "
            + bytes
            + " more are needed, and the folder of temporary files (java.io.tmpdir) cannot hold"
            + " them",
        cause);
  }

  /** Returns the memory, which is valid until it is closed. */
  MemorySegment segment() {
    return segment;
  }

  private void release() {
    budget.release(reserved);
    reserved = 0;
  }

  /** Frees the memory. No thread may use it any more. */
  @Override
  public void close() {
    arena.close();
    release();
  }
}
