package dev.vamana.ivf;

import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;

/** A block of heads gives the estimates that one head at a time gives, to the last bit. */
public class HeadBlockTests extends IvfTestCase {

  public void testOneBit() throws IOException {
    check(CodeKind.RABITQ1);
  }

  public void testTwoBits() throws IOException {
    check(CodeKind.RABITQ2);
  }

  public void testFourBits() throws IOException {
    check(CodeKind.RABITQ4);
  }

  public void testSevenBits() throws IOException {
    check(CodeKind.RABITQ7);
  }

  /** The words are bytes of a code, whose entries of a table are added. */
  public void testProductQuantization() throws IOException {
    int dimension = 1 + random().nextInt(300);
    ListShape shape = new ListShape(1 + random().nextInt(600), dimension, 1, CodeKind.PQ);
    Head[] heads = randomHeads(shape.size(), 64 * shape.words());
    float[] table = gaussian(256 * shape.subspaces());
    float margin = random().nextFloat();
    int places = ListShape.places(heads.length);
    try (Directory directory = newDirectory()) {
      write(directory, shape, heads);
      try (IndexInput input = directory.openInput("lists", IOContext.DEFAULT)) {
        InvertedLists lists = open(input, shape, places);
        HeadBlock block = new HeadBlock(shape);
        for (int from = 0; from < places; from += ListShape.BLOCK) {
          int read = block.read(lists.reader(), shape.listsOffset(), places, from);
          block.estimate(table, 3, margin);
          for (int i = 0; i < Math.min(read, heads.length - from); i++) {
            Head head = heads[from + i];
            double sum = 0;
            for (int s = 0; s < shape.subspaces(); s++) {
              sum += table[256 * s + (int) (head.bits[s / 8] >>> 8 * (s % 8) & 0xFF)];
            }
            double estimate = 3 + head.constant - head.factor * sum;
            assertEquals(head.ordinal, block.ordinal(i));
            assertEquals(estimate, block.estimate(i), 1e-3);
            assertEquals(estimate - head.error * margin, block.bound(i), 2e-3);
            assertTrue(block.bound(i) <= block.estimate(i));
          }
        }
      }
    }
  }

  /** One head: the numbers of its factors, then its bits. */
  private record Head(int ordinal, float constant, float factor, float error, long[] bits) {}

  private static void check(CodeKind kind) throws IOException {
    for (int i = 0; i < 10; i++) {
      int count = 1 + random().nextInt(600);
      int dimension = 1 + random().nextInt(300);
      check(new ListShape(count, dimension, 1, kind), randomHeads(count, dimension));
    }
  }

  private static Head[] randomHeads(int count, int dimension) {
    Head[] heads = new Head[count];
    for (int i = 0; i < count; i++) {
      long[] bits = new long[Rotation.padded(dimension) / Long.SIZE];
      for (int word = 0; word < bits.length; word++) {
        bits[word] = random().nextLong();
      }
      heads[i] =
          new Head(
              random().nextInt(),
              (float) random().nextGaussian(),
              -random().nextFloat(),
              random().nextFloat(),
              bits);
    }
    return heads;
  }

  private static void check(ListShape shape, Head[] heads) throws IOException {
    QueryBits bits = new QueryBits(shape.padded(), 4);
    bits.set(gaussian(shape.padded()));
    float base = (float) random().nextGaussian();
    float margin = random().nextFloat();
    int places = ListShape.places(heads.length);
    try (Directory directory =
        random().nextBoolean() ? newDirectory() : newFSDirectory(createTempDir())) {
      write(directory, shape, heads);
      try (IndexInput input = directory.openInput("lists", IOContext.DEFAULT)) {
        InvertedLists lists = open(input, shape, places);
        HeadBlock block = new HeadBlock(shape);
        for (int from = 0; from < places; from += ListShape.BLOCK) {
          int read = block.read(lists.reader(), shape.listsOffset(), places, from);
          assertEquals(Math.min(ListShape.BLOCK, places - from), read);
          block.estimate(bits, base, margin);
          for (int i = 0; i < Math.min(read, heads.length - from); i++) {
            check(block, i, heads[from + i], bits, base, margin);
          }
        }
      }
    }
  }

  private static void check(
      HeadBlock block, int entry, Head head, QueryBits bits, float base, float margin)
      throws IOException {
    int product = bits.product(head.bits, 0, head.bits.length);
    float estimate =
        base + head.constant + head.factor * bits.step() * (product - bits.sum() * 0.5f);
    float slack = 1e-5f * Math.abs(base) + 1e-5f * Math.abs(head.constant);
    assertEquals(head.ordinal, block.ordinal(entry));
    assertEquals(estimate, block.estimate(entry), 0);
    assertEquals(estimate - head.error * margin - slack, block.bound(entry), 0);
    long[] copied = new long[head.bits.length];
    block.bits(entry, copied);
    assertArrayEquals(head.bits, copied);
  }

  /** Writes one list as the documentation of the format describes it, without its tails. */
  private static void write(Directory directory, ListShape shape, Head[] heads) throws IOException {
    int places = ListShape.places(heads.length);
    ByteBuffer bytes =
        ByteBuffer.allocate(Math.toIntExact(shape.length(places))).order(ByteOrder.LITTLE_ENDIAN);
    int at = Math.toIntExact(shape.listsOffset());
    for (int from = 0; from < places; from += 256) {
      int together = Math.min(256, places - from);
      for (int i = 0; i < Math.min(together, heads.length - from); i++) {
        Head head = heads[from + i];
        bytes.putInt(at + 4 * i, head.ordinal);
        bytes.putFloat(at + 4 * (together + i), head.constant);
        bytes.putFloat(at + 4 * (2 * together + i), head.factor);
        bytes.putFloat(at + 4 * (3 * together + i), head.error);
        for (int word = 0; word < head.bits.length; word++) {
          bytes.putLong(at + 16 * together + 8 * (word * together + i), head.bits[word]);
        }
      }
      at += together * shape.headBytes();
    }
    try (IndexOutput out = directory.createOutput("lists", IOContext.DEFAULT)) {
      out.writeBytes(bytes.array(), bytes.capacity());
    }
  }

  private static InvertedLists open(IndexInput input, ListShape shape, int places)
      throws IOException {
    return new InvertedLists(
        FileRegion.of(input, 0, input.length()),
        shape,
        new InvertedLists.Facts(CentroidsId.random(), 1, 0.1f, 0, places),
        VectorEncoding.FLOAT32,
        VectorSimilarityFunction.EUCLIDEAN);
  }
}
