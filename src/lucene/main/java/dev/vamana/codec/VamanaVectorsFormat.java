package dev.vamana.codec;

import dev.vamana.work.MemoryBudget;
import dev.vamana.work.Workers;
import java.io.IOException;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.KnnVectorsWriter;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.codecs.hnsw.FlatVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99FlatVectorsFormat;
import org.apache.lucene.index.SegmentReadState;
import org.apache.lucene.index.SegmentWriteState;

/**
 * A vectors format that stores a Vamana graph and product quantization codes, or inverted lists
 * with RaBitQ or product quantization codes, beside Lucene's raw vectors.
 *
 * <p>The raw vectors are stored as they were indexed. A segment with at least as many vectors as
 * the graph threshold also has a graph, and a segment with at least as many as the quantization
 * threshold has codes. If the parameters ask for {@link IndexType#IVF}, the first kind of segment
 * has inverted lists instead, and there are no other codes. Lucene reads segments through the
 * no-argument instance, which it finds by name; reading needs no parameters.
 *
 * <p>Lucene's {@link org.apache.lucene.search.knn.KnnSearchStrategy.Hnsw} has a threshold for
 * filters. The threshold chooses between two searches of an HNSW graph, one of which looks at
 * accepted nodes only. It has no meaning here: a walk passes the nodes that a filter rejects,
 * whatever their share, and where few are accepted all of them are scored instead, if that is
 * expected to be faster. Patience and seeds of a strategy are heeded.
 *
 * <p>Numbers are little-endian. Every file begins with an index header and ends with a footer
 * ({@link org.apache.lucene.codecs.CodecUtil}); all files of a segment have the same format
 * version.
 *
 * <p>The segment info has the attribute {@value #NAME} with the type, {@code graph} or {@code ivf};
 * behind it are a space and the name of the filter field if a merge wrote the segment with one.
 *
 * <h2>.vec (raw vectors) and .vemf (their metadata)</h2>
 *
 * <p>Written by {@link Lucene99FlatVectorsFormat}, unchanged.
 *
 * <h2>.vex (graph, or lists)</h2>
 *
 * <p>For each field with a graph, starting at a multiple of {@value #ALIGNMENT} bytes:
 *
 * <ul>
 *   <li>array[array[<b>int32</b>]] one row per ordinal, in ordinal order: the ordinals of its
 *       out-neighbours, then -1 in the unused slots. All rows have the same number of slots, the
 *       max degree rounded up to a multiple of 4, so that a row is read by 16-byte loads and found
 *       by multiplication.
 *   <li>if the field has scalar codes ({@link dev.vamana.vectors.ScalarCodes}), starting at a
 *       multiple of {@value #ALIGNMENT} bytes: for each ordinal a row, which takes a multiple of 32
 *       bytes. It holds, for each 64 components, array[<b>int64</b>] the lower bits of their
 *       numbers, 0 to 3, and the higher bits, lowest component first; 4 * <b>float</b> the distance
 *       of the vector to the mean, the lowest level, the step between two levels, the step times
 *       the sum of all numbers; then 0. Then array[<b>float</b>] the mean. Vectors of a COSINE
 *       field are scaled to unit length first.
 * </ul>
 *
 * <p>For each field with inverted lists, starting at a multiple of {@value #ALIGNMENT} bytes; D is
 * the dimension rounded up to a multiple of 64, and each part starts at a multiple of {@value
 * #ALIGNMENT} bytes from there:
 *
 * <ul>
 *   <li>array[array[<b>float</b>]] for each list D components of its centroid, rotated ({@link
 *       dev.vamana.ivf.Rotation}) unless codes are product quantization codes.
 *   <li>the table, for each list: <b>int32</b> number n of its vectors; <b>float</b> root of their
 *       mean squared distance to the centroid; <b>float</b> squared norm of the centroid;
 *       <b>int32</b> 0.
 *   <li>array[<b>uint16</b>] for each ordinal the number of its list.
 *   <li>the lists, one behind the other. A list of n vectors has n places, rounded up to a multiple
 *       of 8, in blocks of 256; the last block has what is left. First the heads, block by block
 *       and in each by columns: for each place of the block <b>int32</b> ordinal, or -1 in unused
 *       places, whose other bytes are 0; then for each <b>float</b> constant, then for each
 *       <b>float</b> factor, then for each <b>float</b> error; then D / 64 columns of <b>int64</b>
 *       with one bit for each of 64 components, lowest first, set where the rotated residual is not
 *       negative. Then, if codes have more than one bit, for each place of the list its tail:
 *       <b>int32</b> 0; 3 * <b>float</b> constant, factor and error of the whole code; for each
 *       further bit of the numbers, lowest first, D / 64 * <b>int64</b> that bit of all components.
 *       If codes are product quantization codes: the columns behind the errors are the bytes of a
 *       code in place of bits, eight to an <b>int64</b>, subspaces in ascending order from the
 *       lowest byte on and 0 behind the last; there are no tails. Ordinals of a list ascend.
 *       Numbers are in two's complement; their sign bit is the opposite of the head's bit.
 *   <li>behind the lists of product quantization codes: array[<b>float</b>] the codebook of
 *       residuals, subspace-major ({@link dev.vamana.pq.Codebook}).
 * </ul>
 *
 * <p>The residual of a vector is what is left of it without its list's centroid, rotated as that
 * is. Vectors of a COSINE field are scaled to unit length first. {@code dev.vamana.ivf.CodeEncoder}
 * and {@code dev.vamana.ivf.ResidualEncoder} say how distances follow from constant, factor and
 * error.
 *
 * <p>For each field with graphs of the values of a filter field ({@link
 * VamanaParameters#filterField}), starting at a multiple of {@value #ALIGNMENT} bytes:
 *
 * <ul>
 *   <li>array[array[<b>int32</b>]] one row per ordinal, as of the graph; neighbours have the same
 *       value. Rows of vectors whose value has no graph are unused.
 *   <li>array[<b>int32</b>] for each ordinal the number of its value's graph, or -1.
 *   <li>for each graph of at least a 32nd of all vectors, in the order of their numbers:
 *       array[<b>int64</b>] one bit for each ordinal, lowest first, set for the vectors of the
 *       graph.
 * </ul>
 *
 * <h2>.veq (product quantization)</h2>
 *
 * <p>For each field with codes:
 *
 * <ul>
 *   <li>array[<b>byte</b>] the codes, starting at a multiple of {@value #ALIGNMENT} bytes: for each
 *       ordinal one byte per subspace, the number of the nearest centroid. Vectors of a COSINE
 *       field are scaled to unit length first.
 *   <li>array[<b>float</b>] the codebook, starting at a multiple of {@value #ALIGNMENT} bytes: for
 *       each subspace 256 centroids of as many components as the subspace has. The first {@code
 *       dimension mod subspaces} subspaces have one component more than the others.
 * </ul>
 *
 * <h2>.vem (metadata)</h2>
 *
 * <p>For each field:
 *
 * <ul>
 *   <li><b>int32</b> field number, or -1 after the last field
 *   <li><b>int32</b> vector encoding: 0 bytes, 1 floats
 *   <li><b>int32</b> similarity: 0 EUCLIDEAN, 1 DOT_PRODUCT, 2 COSINE, 3 MAXIMUM_INNER_PRODUCT
 *   <li><b>vint</b> dimension
 *   <li><b>int32</b> number of vectors
 *   <li><b>byte</b> 1 if the field has a graph, else 0; if 1:
 *       <ul>
 *         <li><b>vint</b> max degree
 *         <li><b>vint</b> slots of a row
 *         <li><b>vint</b> beam width and <b>int32</b> alpha (float bits) of the build
 *         <li><b>vint</b> how often each node was inserted
 *         <li><b>int32</b> ordinal of the medoid
 *         <li><b>vlong</b> number of edges
 *         <li><b>vlong</b> offset and <b>vlong</b> length of the rows in .vex
 *         <li><b>byte</b> 1 if the field has scalar codes, else 0; if 1: <b>vlong</b> offset and
 *             <b>vlong</b> length of codes and mean in .vex; <b>int32</b> (float bits) deviation of
 *             estimates
 *       </ul>
 *   <li><b>byte</b> 1 if the field has inverted lists, else 0; if 1:
 *       <ul>
 *         <li><b>byte</b> bits of a component: 1, 2, 4 or 7; or 8, for product quantization. Behind
 *             8 are <b>vint</b> the number of subspaces, as {@link
 *             dev.vamana.pq.SubspaceLayout#defaultSubspaces} returns it, and <b>int32</b> (float
 *             bits) the quantile of the error of estimates, 0 to 1
 *         <li><b>vint</b> number of lists
 *         <li>16 * <b>byte</b> identity of centroids and rotation
 *         <li><b>int64</b> seed of the rotation
 *         <li><b>int32</b> (float bits) spread: root of the mean squared cosine between a query and
 *             a member of a list near to it
 *         <li><b>vlong</b> places of all lists
 *         <li><b>vlong</b> offset and <b>vlong</b> length of everything in .vex
 *       </ul>
 *   <li><b>byte</b> 1 if the field has codes, else 0; if 1:
 *       <ul>
 *         <li><b>vint</b> subspaces
 *         <li><b>vlong</b> offset and <b>vlong</b> length of the codes in .veq
 *         <li><b>vlong</b> offset and <b>vlong</b> length of the codebook in .veq
 *         <li>16 * <b>byte</b>, <b>string</b>, <b>vint</b> identity, name and version of the
 *             codebook; the name is empty if the segment trained the codebook
 *       </ul>
 *   <li><b>byte</b> 1 if the field has graphs of values, else 0; if 1:
 *       <ul>
 *         <li><b>vlong</b> number of edges
 *         <li><b>vlong</b> offset and <b>vlong</b> length of everything in .vex
 *         <li><b>vint</b> number of graphs, and for each <b>vint</b> its vectors and <b>int32</b>
 *             the ordinal from which walks start
 *       </ul>
 * </ul>
 */
public final class VamanaVectorsFormat extends KnnVectorsFormat {

  /** The name under which segments refer to this format. */
  public static final String NAME = "Vamana1VectorsFormat";

  /** Component of Lucene's info stream for the start and end of each build of graphs and lists. */
  public static final String INFO_COMPONENT = "VAMANA";

  /** Largest dimension of a field. */
  public static final int MAX_DIMENSIONS = 4096;

  static final int ALIGNMENT = 64;

  static final String META_CODEC_NAME = "Vamana1VectorsFormatMeta";
  static final String GRAPH_CODEC_NAME = "Vamana1VectorsFormatGraph";
  static final String QUANTIZATION_CODEC_NAME = "Vamana1VectorsFormatQuantization";

  // Elasticsearch maps only files whose extension it knows; it would read other files through
  // buffers
  static final String META_EXTENSION = "vem";
  static final String GRAPH_EXTENSION = "vex";
  static final String QUANTIZATION_EXTENSION = "veq";

  static final int VERSION = 0;

  private final Building building;
  private final FlatVectorsFormat rawFormat =
      new Lucene99FlatVectorsFormat(FlatVectorScorerUtil.getLucene99FlatVectorsScorer());

  /**
   * Makes a format that reads segments and writes with {@link VamanaParameters#DEFAULT} on the
   * calling thread.
   */
  public VamanaVectorsFormat() {
    this(VamanaParameters.DEFAULT, Workers.callingThread());
  }

  /**
   * Makes a format that writes with the given parameters and without shared codebooks. It reads the
   * segments of any instance.
   *
   * @param parameters parameters of graph and codes
   * @param workers the threads that builds use
   */
  public VamanaVectorsFormat(VamanaParameters parameters, Workers workers) {
    this(parameters, workers, CodebookProvider.NONE, new BuildStatistics());
  }

  /**
   * Makes a format that writes with the given parameters, with a {@link MemoryBudget#halfOfHeap
   * budget of its own}. It reads the segments of any instance.
   *
   * @param parameters parameters of graph and codes
   * @param workers the threads that builds use
   * @param codebooks shared codebooks for the fields that name one
   * @param statistics receives the counts of this instance; may be shared with other instances
   */
  public VamanaVectorsFormat(
      VamanaParameters parameters,
      Workers workers,
      CodebookProvider codebooks,
      BuildStatistics statistics) {
    this(parameters, workers, codebooks, statistics, MemoryBudget.halfOfHeap(), new CentroidPool());
  }

  /**
   * Makes a format that writes with the given parameters. It reads the segments of any instance.
   *
   * @param parameters parameters of graph and codes
   * @param workers the threads that builds use
   * @param codebooks shared codebooks for the fields that name one
   * @param statistics receives the counts of this instance; may be shared with other instances
   * @param memory bounds the native memory of graphs under construction; what does not fit lies in
   *     temporary files, which is slower. May be shared with other instances
   * @param centroids keeps the centroids of lists; formats of one index may have the same part of a
   *     pool
   */
  public VamanaVectorsFormat(
      VamanaParameters parameters,
      Workers workers,
      CodebookProvider codebooks,
      BuildStatistics statistics,
      MemoryBudget memory,
      CentroidPool centroids) {
    super(NAME);
    this.building = new Building(parameters, workers, memory, codebooks, statistics, centroids);
  }

  @Override
  public KnnVectorsWriter fieldsWriter(SegmentWriteState state) throws IOException {
    // tools that list segments show attributes, but not vector formats
    // a flush does not know its fields yet, and writes no graphs of values
    boolean merge = state.fieldInfos != null;
    state.segmentInfo.putAttribute(NAME, building.parameters().attribute(merge));
    return new VamanaVectorsWriter(state, rawFormat, building);
  }

  /**
   * Whether merges of this instance write the same type, and graphs of the same field's values, as
   * an existing segment has.
   *
   * @param attribute value of the segment info's attribute {@value #NAME}, or null
   */
  public boolean writesTypeOf(String attribute) {
    return building.parameters().attribute(true).equals(attribute);
  }

  @Override
  public KnnVectorsReader fieldsReader(SegmentReadState state) throws IOException {
    return new VamanaVectorsReader(state, rawFormat);
  }

  @Override
  public int getMaxDimensions(String fieldName) {
    return MAX_DIMENSIONS;
  }

  @Override
  public String toString() {
    return "VamanaVectorsFormat("
        + building.parameters()
        + ", threads="
        + building.workers().threads()
        + ")";
  }
}
