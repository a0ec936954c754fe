package dev.vamana.cuda.driver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Blocks of native memory by address. Fresh and freed memory is filled with a pattern, and freed
 * memory stays mapped for a while, so that code that reads it finds the pattern instead of crashing
 * the process.
 */
final class SimulatedMemory {

  /** Content of fresh and freed memory: an ordinal out of range, a NaN. */
  static final byte PATTERN = (byte) 0xFF;

  private static final long ALIGNMENT = 256;
  private static final long KEPT_AFTER_FREE = 64L << 20;

  /** Blocks of so many bytes are files with holes, which read as zeros and have no pattern. */
  private static final long SPARSE = 2L << 30;

  private final String what;
  private final long capacity;
  private final TreeMap<Long, Block> live = new TreeMap<>();
  private final Deque<Block> freed = new ArrayDeque<>();
  private long liveBytes;
  private long freedBytes;

  private record Block(Arena arena, MemorySegment segment) {
    boolean holds(long address, long bytes) {
      return address >= segment.address()
          && address + bytes <= segment.address() + segment.byteSize();
    }
  }

  SimulatedMemory(String what, long capacity) {
    this.what = what;
    this.capacity = capacity;
  }

  synchronized MemorySegment allocate(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("bytes must be at least 1, not " + bytes);
    }
    if (bytes > capacity - liveBytes) {
      throw new GpuException(
          GpuException.Kind.OUT_OF_MEMORY,
          bytes + " bytes of " + what + " memory with " + (capacity - liveBytes) + " left");
    }
    Arena arena = Arena.ofShared();
    MemorySegment segment =
        bytes < SPARSE ? arena.allocate(bytes, ALIGNMENT).fill(PATTERN) : sparse(arena, bytes);
    live.put(segment.address(), new Block(arena, segment));
    liveBytes += bytes;
    return segment;
  }

  private static MemorySegment sparse(Arena arena, long bytes) {
    try {
      Path file = Files.createTempFile("simulated", null);
      try (FileChannel channel =
          FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        return channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
      } finally {
        // the mapping keeps the content
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Null if no block is, or is any longer, at the address. */
  synchronized MemorySegment free(long address) {
    Block block = live.remove(address);
    if (block == null) {
      return null;
    }
    long bytes = block.segment.byteSize();
    liveBytes -= bytes;
    if (bytes >= SPARSE) {
      block.arena.close();
      return block.segment;
    }
    block.segment.fill(PATTERN);
    freed.addLast(block);
    freedBytes += bytes;
    while (freedBytes > KEPT_AFTER_FREE) {
      Block oldest = freed.removeFirst();
      freedBytes -= oldest.segment.byteSize();
      oldest.arena.close();
    }
    return block.segment;
  }

  /** The bytes, or null if they are not all inside one live block. */
  synchronized MemorySegment find(long address, long bytes) {
    Map.Entry<Long, Block> block = live.floorEntry(address);
    if (block == null || block.getValue().holds(address, bytes) == false) {
      return null;
    }
    return block.getValue().segment.asSlice(address - block.getKey(), bytes);
  }

  synchronized boolean wasFreed(long address) {
    return freed.stream().anyMatch(block -> block.holds(address, 1));
  }

  synchronized long liveBytes() {
    return liveBytes;
  }

  synchronized long remaining() {
    return capacity - liveBytes;
  }

  synchronized List<String> liveBlocks() {
    List<String> blocks = new ArrayList<>();
    live.values().forEach(block -> blocks.add(block.segment.byteSize() + " bytes of " + what));
    return blocks;
  }

  /** Unmaps everything. */
  synchronized void close() {
    live.values().forEach(block -> block.arena.close());
    freed.forEach(block -> block.arena.close());
    live.clear();
    freed.clear();
    liveBytes = 0;
    freedBytes = 0;
  }
}
