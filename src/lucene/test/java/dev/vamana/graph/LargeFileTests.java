package dev.vamana.graph;

import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.store.NIOFSDirectory;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Rows of a graph of 100 million nodes, in a file with holes. */
public class LargeFileTests extends LuceneTestCase {

  private static final int SIZE = 100_000_000;
  private static final int STRIDE = 64;
  private static final long ROW_BYTES = STRIDE * 4L;
  private static final long OFFSET = 128;
  private static final String NAME = "graph";

  /** Writes rows on both sides of every border, and returns the only neighbour of each. */
  private static Map<Integer, Integer> write(Path file) throws IOException {
    Map<Integer, Integer> rows = new TreeMap<>();
    rows.put(0, SIZE - 1);
    rows.put(SIZE - 1, 0);
    for (int bits = 31; bits <= 34; bits++) {
      for (int beside = -1; beside <= 1; beside++) {
        rows.put((int) ((1L << bits) / ROW_BYTES) + beside, random().nextInt(SIZE));
        if (bits <= 32) {
          // the same for slots instead of bytes
          rows.put((int) ((1L << bits) / STRIDE) + beside, random().nextInt(SIZE));
        }
      }
    }
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      ByteBuffer row = ByteBuffer.allocate((int) ROW_BYTES).order(ByteOrder.LITTLE_ENDIAN);
      for (Map.Entry<Integer, Integer> entry : rows.entrySet()) {
        row.clear();
        while (row.hasRemaining()) {
          row.putInt(StoredAdjacency.UNUSED);
        }
        row.putInt(0, entry.getValue());
        channel.write(row.flip(), OFFSET + entry.getKey() * ROW_BYTES);
      }
    }
    return rows;
  }

  private static void check(Directory directory, Map<Integer, Integer> rows, boolean mapped)
      throws IOException {
    try (directory;
        IndexInput input = directory.openInput(NAME, IOContext.DEFAULT)) {
      FileRegion region = FileRegion.of(input, OFFSET, SIZE * ROW_BYTES);
      assertEquals(mapped, region.segment() != null);
      StoredAdjacency graph = new StoredAdjacency(region, SIZE, STRIDE);
      int[] row = new int[STRIDE];
      for (Map.Entry<Integer, Integer> entry : rows.entrySet()) {
        String node = "node " + entry.getKey();
        assertEquals(node, 1, graph.neighbors(entry.getKey(), row));
        assertEquals(node, entry.getValue().intValue(), row[0]);
      }
      // one byte more than the file has
      expectThrows(
          CorruptIndexException.class, () -> FileRegion.of(input, OFFSET + 1, SIZE * ROW_BYTES));
    }
  }

  public void testRowsBeyondAllBorders() throws IOException {
    Path folder = createTempDir();
    Map<Integer, Integer> rows = write(folder.resolve(NAME));
    check(new MMapDirectory(folder, 1L << 40), rows, true);
    // pieces of 16 GiB
    check(new MMapDirectory(folder), rows, false);
    check(new NIOFSDirectory(folder), rows, false);
  }
}
