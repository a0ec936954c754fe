package dev.vamana.codec;

import dev.vamana.ivf.CentroidsId;
import dev.vamana.ivf.CodeKind;
import dev.vamana.ivf.InvertedLists;
import dev.vamana.ivf.ListShape;
import java.io.IOException;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.tests.util.LuceneTestCase;

/** The entry of lists in the metadata: what was written is read, and nothing out of range. */
public class ListMetadataTests extends LuceneTestCase {

  private static final int SIZE = 500;
  private static final int DIMENSION = 20;

  private static ListMetadata metadata(CodeKind kind, float errorQuantile) {
    ListShape shape = new ListShape(SIZE, DIMENSION, 9, kind);
    long places = SIZE + random().nextInt(9 * 8);
    return new ListMetadata(
        shape,
        new InvertedLists.Facts(
            CentroidsId.random(), random().nextLong(), random().nextFloat(), errorQuantile, places),
        64,
        shape.length(places));
  }

  /** Reads metadata, in whose bytes one is replaced. */
  private static ListMetadata read(ListMetadata written, int at, int value) throws IOException {
    try (Directory directory = new ByteBuffersDirectory()) {
      try (IndexOutput out = directory.createOutput("written", IOContext.DEFAULT)) {
        written.write(out);
      }
      byte[] bytes;
      try (IndexInput in = directory.openInput("written", IOContext.DEFAULT)) {
        bytes = new byte[Math.toIntExact(in.length())];
        in.readBytes(bytes, 0, bytes.length);
      }
      if (at >= 0) {
        bytes[at] = (byte) value;
      }
      try (IndexOutput out = directory.createOutput("changed", IOContext.DEFAULT)) {
        out.writeBytes(bytes, bytes.length);
      }
      try (IndexInput in = directory.openInput("changed", IOContext.DEFAULT)) {
        return ListMetadata.read(in, SIZE, DIMENSION);
      }
    }
  }

  private static void assertCorrupt(ListMetadata written, int at, int value) {
    CorruptIndexException e =
        expectThrows(CorruptIndexException.class, () -> read(written, at, value));
    assertTrue(e.getMessage(), e.getMessage().contains("invalid lists of " + SIZE + " vectors"));
  }

  public void testWhatWasWrittenIsRead() throws IOException {
    for (CodeKind kind : CodeKind.values()) {
      ListMetadata written = metadata(kind, kind == CodeKind.PQ ? random().nextFloat() : 0);
      assertEquals(written, read(written, -1, 0));
    }
  }

  public void testUnknownCodes() {
    for (int bits : new int[] {0, 3, 5, 6, 9, 127, -1}) {
      assertCorrupt(metadata(CodeKind.RABITQ1, 0), 0, bits);
    }
  }

  /** The number of subspaces is the byte behind the kind: 5 for 20 components. */
  public void testOtherSubspaces() {
    for (int subspaces : new int[] {0, 1, 4, 6, 20, 127}) {
      assertCorrupt(metadata(CodeKind.PQ, 0.1f), 1, subspaces);
    }
  }

  public void testQuantileOutOfRange() {
    for (float quantile : new float[] {-0.01f, 1.01f, Float.NaN, Float.POSITIVE_INFINITY}) {
      assertCorrupt(metadata(CodeKind.PQ, quantile), -1, 0);
    }
  }
}
