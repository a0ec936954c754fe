package dev.vamana.ivf;

import dev.vamana.pq.Codebook;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.codecs.lucene95.OffHeapFloatVectorValues.DenseOffHeapVectorValues;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.IndexInput;

/**
 * The inverted lists of one field of an open segment: centroids, and for each a list of the vectors
 * nearest to it with their codes. Thread-safe.
 *
 * <p>The bytes stay in the file. The table of lists, 16 bytes for each, and the signs of the
 * rotation, or the codebook of product quantization, are kept on the heap from the first search on.
 */
public final class InvertedLists {

  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final FileRegion region;
  private final ListShape shape;
  private final Facts facts;
  private final VectorEncoding encoding;
  private final VectorSimilarityFunction similarity;
  private volatile Table table;
  private volatile Rotation rotation;
  private volatile ResidualQuantizer quantizer;

  /**
   * Facts about the lists of a field, from its metadata.
   *
   * @param id identity of centroids and rotation; codes may be copied between fields of equal
   *     identity and kind
   * @param seed seed of the {@link Rotation}
   * @param spread standard deviation of the cosine between a query and a member of a list, as seen
   *     from the list's centroid; 0 to 1
   * @param errorQuantile how large errors of estimates by product quantization are ({@code
   *     ResidualQuantizer}); 0 to 1, and 0 for other codes
   * @param places places of all lists
   */
  public record Facts(CentroidsId id, long seed, float spread, float errorQuantile, long places) {}

  /**
   * Opens lists.
   *
   * @param region {@link ListShape#length} bytes
   * @throws IllegalArgumentException if the region has another length
   */
  public InvertedLists(
      FileRegion region,
      ListShape shape,
      Facts facts,
      VectorEncoding encoding,
      VectorSimilarityFunction similarity) {
    if (region.length() != shape.length(facts.places())) {
      throw new IllegalArgumentException(shape + " does not take " + region.length() + " bytes");
    }
    this.region = region;
    this.shape = shape;
    this.facts = facts;
    this.encoding = encoding;
    this.similarity = similarity;
  }

  /** Returns the sizes of the lists. */
  public ListShape shape() {
    return shape;
  }

  /** Returns identity, seed and spread. */
  public Facts facts() {
    return facts;
  }

  /**
   * Returns everything in the file: centroids, table, numbers of lists, lists. A device can use it
   * as it is.
   */
  public FileRegion region() {
    return region;
  }

  /** Returns how estimates relate to scores. */
  public Estimates estimates() {
    return Estimates.of(encoding, similarity, shape.dimension());
  }

  VectorSimilarityFunction similarity() {
    return similarity;
  }

  /** Returns the quantizer of residuals; only with product quantization. */
  ResidualQuantizer quantizer() throws IOException {
    ResidualQuantizer known = quantizer;
    if (known == null) {
      IndexInput in = region.open();
      in.seek(shape.quantizerOffset(facts.places()));
      // two threads may read it at once; both copies are equal
      known = ResidualQuantizer.read(in, shape.dimension(), facts.id(), facts.errorQuantile());
      quantizer = known;
    }
    return known;
  }

  /** Returns the codebook of residuals; only with product quantization. */
  public Codebook codebook() throws IOException {
    return quantizer().codebook();
  }

  /** Returns the rotation of centroids and residuals, which product quantization leaves as is. */
  public Rotation rotation() {
    Rotation known = rotation;
    if (known == null) {
      known =
          shape.kind().isRabitq()
              ? new Rotation(shape.dimension(), facts.seed())
              : Rotation.identity(shape.dimension());
      rotation = known;
    }
    return known;
  }

  /** Returns the rotated centroids, for use by the calling thread. */
  FloatVectorValues centroids() throws IOException {
    IndexInput slice = region.open().slice("centroids", 0, shape.centroidBytes());
    return new DenseOffHeapVectorValues(
        shape.padded(),
        shape.lists(),
        slice,
        shape.padded() * Float.BYTES,
        FlatVectorScorerUtil.getLucene99FlatVectorsScorer(),
        VectorSimilarityFunction.EUCLIDEAN);
  }

  /** Returns the centroids as they were before their rotation, on the heap. */
  float[][] plainCentroids() throws IOException {
    FloatVectorValues rotated = centroids();
    float[][] plain = new float[shape.lists()][shape.dimension()];
    for (int list = 0; list < plain.length; list++) {
      rotation().invert(rotated.vectorValue(list).clone(), plain[list]);
    }
    return plain;
  }

  /**
   * The table of lists.
   *
   * @param starts place of the first entry of each list, and behind the last
   * @param counts vectors of each list
   * @param radii root of the mean squared distance of a list's vectors to its centroid
   * @param norms squared norm of each centroid
   */
  record Table(long[] starts, int[] counts, float[] radii, float[] norms) {}

  Table table() throws IOException {
    Table known = table;
    if (known == null) {
      known = readTable();
      table = known;
    }
    return known;
  }

  private Table readTable() throws IOException {
    int lists = shape.lists();
    Table read = new Table(new long[lists + 1], new int[lists], new float[lists], new float[lists]);
    IndexInput in = region.open();
    in.seek(shape.tableOffset());
    long vectors = 0;
    for (int list = 0; list < lists; list++) {
      int count = in.readInt();
      if (count < 0 || count > shape.size()) {
        throw new CorruptIndexException("list " + list + " has " + count + " vectors", in);
      }
      read.counts[list] = count;
      read.radii[list] = Float.intBitsToFloat(in.readInt());
      read.norms[list] = Float.intBitsToFloat(in.readInt());
      in.readInt();
      read.starts[list + 1] = read.starts[list] + ListShape.places(count);
      vectors += count;
    }
    if (vectors != shape.size() || read.starts[lists] != facts.places()) {
      throw new CorruptIndexException(
          "lists hold " + vectors + " of " + shape.size() + " vectors", in);
    }
    return read;
  }

  /**
   * Returns the number of groups of {@value ListShape#GROUP} places before each list.
   *
   * @throws CorruptIndexException if the lists do not hold as many vectors as the segment
   */
  public int[] groups() throws IOException {
    long[] starts = table().starts;
    int[] groups = new int[shape.lists()];
    for (int list = 0; list < groups.length; list++) {
      groups[list] = (int) (starts[list] / ListShape.GROUP);
    }
    return groups;
  }

  /** Returns where a list starts in the region. */
  long offset(Table of, int list) {
    return shape.listsOffset() + of.starts[list] * (shape.headBytes() + shape.tailBytes());
  }

  /** Reads parts of the region, for one thread. */
  Reader reader() throws IOException {
    return new Reader();
  }

  /** Gives memory with a part of the region: the mapping, or a copy. */
  final class Reader {
    private final MemorySegment mapped = region.segment();
    private final IndexInput input;

    private Reader() throws IOException {
      input = mapped == null ? region.open() : null;
    }

    /** Returns the number of a vector's list. */
    int number(int ordinal) throws IOException {
      long offset = shape.numbersOffset() + (long) ordinal * Short.BYTES;
      if (mapped != null) {
        return Short.toUnsignedInt(mapped.get(SHORT, offset));
      }
      input.seek(offset);
      return Short.toUnsignedInt(input.readShort());
    }

    /** Returns a word. */
    long word(long offset) throws IOException {
      if (mapped != null) {
        return mapped.get(LONG, offset);
      }
      input.seek(offset);
      return input.readLong();
    }

    /** Copies words to the start of an array. */
    void read(long offset, long[] target, int count) throws IOException {
      if (mapped != null) {
        MemorySegment.copy(mapped, LONG, offset, target, 0, count);
        return;
      }
      input.seek(offset);
      input.readLongs(target, 0, count);
    }

    /** Copies numbers to the start of an array. */
    void read(long offset, int[] target, int count) throws IOException {
      if (mapped != null) {
        MemorySegment.copy(mapped, INT, offset, target, 0, count);
        return;
      }
      input.seek(offset);
      input.readInts(target, 0, count);
    }

    /** Copies numbers to the start of an array. */
    void read(long offset, float[] target, int count) throws IOException {
      if (mapped != null) {
        MemorySegment.copy(mapped, FLOAT, offset, target, 0, count);
        return;
      }
      input.seek(offset);
      input.readFloats(target, 0, count);
    }
  }

  /**
   * Looks up the lists of vectors.
   *
   * @param ordinals of the vectors; best in ascending order
   * @param count number of ordinals
   * @param found receives the number of the list of each
   * @throws CorruptIndexException if there is no such list
   * @throws AlreadyClosedException if the segment is closed
   */
  public void find(int[] ordinals, int count, int[] found) throws IOException {
    try {
      Reader reader = reader();
      for (int i = 0; i < count; i++) {
        found[i] = reader.number(ordinals[i]);
        if (found[i] >= shape.lists()) {
          throw new CorruptIndexException(
              "list " + found[i] + " of " + shape.lists(), region.toString());
        }
      }
    } catch (IllegalStateException e) {
      throw closed(e);
    }
  }

  /** Returns what tells that lists were closed while they were read. */
  static RuntimeException closed(IllegalStateException e) {
    return e instanceof AlreadyClosedException known
        ? known
        : new AlreadyClosedException("the lists were closed", e);
  }
}
