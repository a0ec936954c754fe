package dev.vamana.tools.gpu;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.lucene.index.ByteVectorValues;

/**
 * The first vectors of {@link LargeSet}, in a mapped file that is kept between stages. A stage that
 * needs more of them adds them to the file. Any thread may read.
 */
final class LargeVectors implements Closeable {

  private static final String FILE = "vectors.bin";
  private static final String ROWS = "vectors.rows";
  // a thread generates a range of units, and writes it at once
  private static final int UNIT = 1 << 7;
  // vectors after which the file counts as longer
  private static final int PART = 1 << 23;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private final int size;

  private LargeVectors(FileChannel channel, int size) throws IOException {
    this.size = size;
    this.memory =
        channel.map(FileChannel.MapMode.READ_ONLY, 0, (long) size * LargeSet.DIMENSION, arena);
  }

  /** Generates the vectors that the file does not have yet, on all threads, and maps the file. */
  static LargeVectors open(Stage.Context context, Path folder, int size) throws IOException {
    Files.createDirectories(folder);
    Path rows = folder.resolve(ROWS);
    int done = Files.exists(rows) ? Integer.parseInt(Files.readString(rows)) : 0;
    try (FileChannel channel =
        FileChannel.open(
            folder.resolve(FILE),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      long start = System.nanoTime();
      for (int first = done; first < size; ) {
        int count = Math.min(PART, size - first);
        write(context, channel, first, count);
        first += count;
        Files.writeString(rows, String.valueOf(first));
        double seconds = (System.nanoTime() - start) * 1e-9;
        context.say(
            "generated %,d vectors in %.1f s, %.2f GB/s",
            first, seconds, (first - done) * 1e-9 * LargeSet.DIMENSION / seconds);
      }
      return new LargeVectors(channel, size);
    }
  }

  private static void write(Stage.Context context, FileChannel channel, int first, int count)
      throws IOException {
    context
        .workers()
        .forEachRange(
            0,
            (count + UNIT - 1) / UNIT,
            () -> {
              LargeSet set = new LargeSet();
              byte[] bytes = new byte[Workers.RANGE * UNIT * LargeSet.DIMENSION];
              ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length);
              return (from, to) -> {
                long begin = (long) first + from * UNIT;
                int rows = Math.min(to * UNIT, count) - from * UNIT;
                for (int i = 0; i < rows; i++) {
                  set.vector(begin + i, bytes, i * LargeSet.DIMENSION);
                }
                buffer.clear().put(bytes, 0, rows * LargeSet.DIMENSION).flip();
                long at = begin * LargeSet.DIMENSION;
                while (buffer.hasRemaining()) {
                  at += channel.write(buffer, at);
                }
              };
            },
            AbortCheck.NEVER);
  }

  /** Deletes the file of a folder, which an index of its vectors does not need. */
  static void delete(Path folder) throws IOException {
    Files.deleteIfExists(folder.resolve(ROWS));
    Files.deleteIfExists(folder.resolve(FILE));
  }

  /** Returns the number of vectors. */
  int size() {
    return size;
  }

  /** Returns a view for one thread. */
  ByteVectorValues values() {
    return new Values();
  }

  @Override
  public void close() {
    arena.close();
  }

  private final class Values extends ByteVectorValues {
    private final byte[] vector = new byte[LargeSet.DIMENSION];

    @Override
    public byte[] vectorValue(int ordinal) {
      long at = (long) ordinal * LargeSet.DIMENSION;
      MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, at, vector, 0, vector.length);
      return vector;
    }

    @Override
    public int dimension() {
      return LargeSet.DIMENSION;
    }

    @Override
    public int size() {
      return size;
    }

    @Override
    public DocIndexIterator iterator() {
      return createDenseIterator();
    }

    @Override
    public ByteVectorValues copy() {
      return new Values();
    }
  }
}
