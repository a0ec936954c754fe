package dev.vamana.elasticsearch.search;

import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.ServerClasses;
import java.io.IOException;
import java.util.Random;
import org.elasticsearch.common.io.stream.BytesStreamOutput;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.search.internal.ShardSearchContextId;
import org.junit.BeforeClass;
import org.junit.Test;

/** Everything that travels between nodes for a batched search arrives as it was sent. */
public class WireTests {

  private final Random random = new Random(17);

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static NamedWriteableRegistry.Entry query(
      String name, Writeable.Reader<? extends QueryBuilder> reader) {
    return new NamedWriteableRegistry.Entry(QueryBuilder.class, name, reader);
  }

  private QueryVectors bytes(int count, int dims) {
    byte[][] vectors = new byte[count][dims];
    for (byte[] vector : vectors) {
      random.nextBytes(vector);
    }
    return QueryVectors.ofBytes(vectors);
  }

  /** A message of some bytes must not make a node take memory for what it only announces. */
  @Test
  public void testVectorsThatAreAnnouncedButNotSent() throws IOException {
    int[][] announced = {{1 << 20, 4096}, {2, 5}, {-1, 3}, {3, -1}, {7, 0}, {1 << 30, 1 << 30}};
    for (int kind = 0; kind < 2; kind++) {
      for (int[] shape : announced) {
        try (BytesStreamOutput out = new BytesStreamOutput()) {
          out.writeBoolean(kind == 0);
          out.writeVInt(shape[0]);
          out.writeVInt(shape[1]);
          out.writeBytes(new byte[9]);
          IOException e =
              assertThrows(
                  IOException.class, () -> QueryVectors.readFrom(out.bytes().streamInput()));
          assertTrue(e.getMessage(), e.getMessage().contains("[9] bytes left"));
        }
      }
    }
  }

  private static ShardSearchContextId reader() {
    return new ShardSearchContextId("session", 42, "searcher");
  }
}
