package dev.vamana.graph;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Memory for the rows of one graph: native memory, or, where the JVM's limit for it ({@code
 * -XX:MaxDirectMemorySize}) leaves no room, a temporary file that is mapped. Elasticsearch sets
 * that limit to half of its heap, which a large merge may exceed; an OutOfMemoryError would end the
 * node.
 */
final class RowMemory implements AutoCloseable {

  private static final int ZEROS = 1 << 20;
  private static final String PREFIX = "vamana-rows";

  /** Allocates native memory. */
  @FunctionalInterface
  interface Allocator {
    /**
     * Returns memory that is all zeros.
     *
     * @throws OutOfMemoryError if there is none
     */
    MemorySegment allocate(Arena arena, long bytes);
  }

  private final Arena arena = Arena.ofShared();
  private final MemorySegment segment;

  /**
   * Allocates memory that is all zeros.
   *
   * @param bytes 0 or more
   * @throws IOException if the temporary folder has no room either
   */
  RowMemory(long bytes) throws IOException {
    this(bytes, (arena, size) -> arena.allocate(size, Long.BYTES), null);
  }

  /**
   * Allocates memory that is all zeros.
   *
   * @param folder of temporary files, null for the system's
   */
  RowMemory(long bytes, Allocator allocator, Path folder) throws IOException {
    MemorySegment allocated = null;
    try {
      allocated = allocateOrMap(bytes, allocator, folder);
    } finally {
      if (allocated == null) {
        arena.close();
      }
    }
    this.segment = allocated;
  }

  private MemorySegment allocateOrMap(long bytes, Allocator allocator, Path folder)
      throws IOException {
    try {
      return allocator.allocate(arena, bytes);
    } catch (OutOfMemoryError e) {
      try {
        return map(bytes, folder);
      } catch (IOException disk) {
        disk.addSuppressed(e);
        throw new IOException(
            "no memory for a graph under construction: "
                + bytes
                + " bytes are more than -XX:MaxDirectMemorySize leaves, and the folder of temporary"
                + " files (java.io.tmpdir) cannot hold them",
            disk);
      }
    }
  }

  private MemorySegment map(long bytes, Path folder) throws IOException {
    Path file =
        folder == null
            ? Files.createTempFile(PREFIX, null)
            : Files.createTempFile(folder, PREFIX, null);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      // Written, not only sized: on a full disk a write fails, but access to a hole ends the JVM.
      ByteBuffer zeros = ByteBuffer.allocate(ZEROS);
      for (long done = 0; done < bytes; ) {
        zeros.clear().limit((int) Math.min(ZEROS, bytes - done));
        done += channel.write(zeros, done);
      }
      return channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
    } finally {
      // the mapping keeps the content
      Files.delete(file);
    }
  }

  /** Returns the memory, which is valid until it is closed. */
  MemorySegment segment() {
    return segment;
  }

  /** Frees the memory. No thread may use it any more. */
  @Override
  public void close() {
    arena.close();
  }
}
