package dev.vamana.codec;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.codecs.CodecUtil;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.OutputStreamIndexOutput;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Metadata whose checksum is right, but which does not describe the raw vectors. */
@LuceneTestCase.SuppressFileSystems("ExtrasFS")
public class CraftedMetadataTests extends LuceneTestCase {

  private static final int DOCS = 20;
  private static final int DIMENSION = 4;

  // bytes of a field's entry before its number of vectors: number, encoding, similarity, dimension
  private static final int BEFORE_SIZE = 3 * Integer.BYTES + 1;

  /** The metadata of a segment without graphs and codes, with another number of vectors. */
  private static byte[] withSize(byte[] content, int header, int size) throws IOException {
    byte[] body = Arrays.copyOf(content, content.length - CodecUtil.footerLength());
    int at = header + BEFORE_SIZE;
    assertEquals("little-endian", DOCS, body[at]);
    for (int i = 0; i < Integer.BYTES; i++) {
      body[at + i] = (byte) (size >>> (8 * i));
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (OutputStreamIndexOutput out =
        new OutputStreamIndexOutput("crafted", "crafted", bytes, 1_024)) {
      out.writeBytes(body, body.length);
      CodecUtil.writeFooter(out);
    }
    return bytes.toByteArray();
  }

  public void testAnotherNumberOfVectorsIsDetectedAtOpen() throws IOException {
    try (Directory intact = new ByteBuffersDirectory()) {
      VamanaParameters flat =
          VamanaParameters.DEFAULT.withThresholds(Integer.MAX_VALUE, Integer.MAX_VALUE);
      try (IndexWriter writer = new IndexWriter(intact, Segments.config(flat))) {
        for (float[] vector : Segments.clustered(random(), DOCS, DIMENSION)) {
          writer.addDocument(Segments.document(0, vector, VectorSimilarityFunction.EUCLIDEAN));
        }
      }
      String file =
          Segments.files(intact).stream()
              .filter(name -> name.endsWith(".vem"))
              .findFirst()
              .orElseThrow();
      byte[] content = Segments.content(intact, file);
      int header;
      try (IndexInput in = intact.openInput(file, org.apache.lucene.store.IOContext.DEFAULT)) {
        header = CodecUtil.readIndexHeader(in).length;
      }
      for (int size : new int[] {0, DOCS - 1, DOCS + 1, Integer.MAX_VALUE}) {
        try (Directory crafted = new ByteBuffersDirectory()) {
          Segments.copy(intact, crafted, file, withSize(content, header, size));
          CorruptIndexException e =
              expectThrows(
                  CorruptIndexException.class, () -> DirectoryReader.open(crafted).close());
          assertTrue(e.getMessage(), e.getMessage().contains(size + " vectors"));
          assertTrue(e.getMessage(), e.getMessage().contains("there are " + DOCS));
          assertTrue(e.getMessage(), e.getMessage().contains("field " + Segments.FLOATS));
        }
      }
      try (Directory same = new ByteBuffersDirectory()) {
        Segments.copy(intact, same, file, withSize(content, header, DOCS));
        DirectoryReader.open(same).close();
      }
    }
  }
}
