package dev.vamana.codec;

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
 * Vectors with a Vamana graph and product quantization codes.
 *
 * <p>A segment's vectors are kept exactly as given. Segments of at least the graph threshold also
 * hold a graph, and those of at least the quantization threshold hold codes. Reading needs nothing
 * but the files, so it is done by the no-argument instance that Lucene makes by name.
 *
 * <p>Numbers are little-endian. Every file begins with an index header and ends with a footer
 * ({@link org.apache.lucene.codecs.CodecUtil}); all files of a segment have the same format
 * version.
 *
 * <p>The segment info of such a segment has the attribute {@value #NAME} with the format version.
 *
 * <h2>.vec (raw vectors) and .vemf (their metadata)</h2>
 *
 * <p>Written by {@link Lucene99FlatVectorsFormat}, unchanged.
 *
 * <h2>.vex (graph)</h2>
 *
 * <p>For each field with a graph, starting at a multiple of {@value #ALIGNMENT} bytes:
 *
 * <ul>
 *   <li>array[array[<b>int32</b>]] one row an ordinal, in ordinal order: the ordinals of its
 *       out-neighbours, then -1 in the unused slots. All rows have the same number of slots, the
 *       max degree rounded up to a multiple of 4, so that a row is read by 16-byte loads and found
 *       by multiplication.
 * </ul>
 *
 * <h2>.veq (product quantization)</h2>
 *
 * <p>For each field with codes:
 *
 * <ul>
 *   <li>array[<b>byte</b>] the codes, starting at a multiple of {@value #ALIGNMENT} bytes: for each
 *       ordinal one byte a subspace, the number of the nearest centroid. Vectors of a COSINE field
 *       are scaled to unit length first.
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
 *         <li><b>vint</b> beam width and <b>int32</b> alpha (float bits) that it was built with
 *         <li><b>vint</b> how often each node was inserted
 *         <li><b>int32</b> ordinal of the medoid
 *         <li><b>vlong</b> number of edges
 *         <li><b>vlong</b> offset and <b>vlong</b> length of the rows in .vex
 *       </ul>
 *   <li><b>byte</b> 1 if the field has codes, else 0; if 1:
 *       <ul>
 *         <li><b>vint</b> subspaces
 *         <li><b>vlong</b> offset and <b>vlong</b> length of the codes in .veq
 *         <li><b>vlong</b> offset and <b>vlong</b> length of the codebook in .veq
 *         <li>16 * <b>byte</b>, <b>string</b>, <b>vint</b> identity, name and version of the
 *             codebook; the name is empty for one of the segment's own
 *       </ul>
 * </ul>
 */
public final class VamanaVectorsFormat extends KnnVectorsFormat {

  /** The name that segments refer to this format by. */
  public static final String NAME = "Vamana1VectorsFormat";

  /** Largest dimension of a field. */
  public static final int MAX_DIMENSIONS = 4096;

  static final int ALIGNMENT = 64;

  static final String META_CODEC_NAME = "Vamana1VectorsFormatMeta";
  static final String GRAPH_CODEC_NAME = "Vamana1VectorsFormatGraph";
  static final String QUANTIZATION_CODEC_NAME = "Vamana1VectorsFormatQuantization";

  // Elasticsearch maps files by extensions that it knows; with others the graph would be read
  // through buffers
  static final String META_EXTENSION = "vem";
  static final String GRAPH_EXTENSION = "vex";
  static final String QUANTIZATION_EXTENSION = "veq";

  static final int VERSION_START = 0;
  static final int VERSION_CURRENT = VERSION_START;

  private final Building building;
  private final FlatVectorsFormat rawFormat =
      new Lucene99FlatVectorsFormat(FlatVectorScorerUtil.getLucene99FlatVectorsScorer());

  /** Reads segments; writes with {@link VamanaParameters#DEFAULT} on the calling thread. */
  public VamanaVectorsFormat() {
    this(VamanaParameters.DEFAULT, Workers.callingThread());
  }

  /**
   * Writes with these parameters and without shared codebooks; reads what any instance wrote.
   *
   * @param parameters how segments are written
   * @param workers threads that builds use
   */
  public VamanaVectorsFormat(VamanaParameters parameters, Workers workers) {
    this(parameters, workers, CodebookProvider.NONE, new BuildStatistics());
  }

  /**
   * Writes with these parameters; reads what any instance wrote.
   *
   * @param parameters how segments are written
   * @param workers threads that builds use
   * @param codebooks shared codebooks for the fields that name one
   * @param statistics counts what this instance, and any other that was given it, has done
   */
  public VamanaVectorsFormat(
      VamanaParameters parameters,
      Workers workers,
      CodebookProvider codebooks,
      BuildStatistics statistics) {
    super(NAME);
    this.building = new Building(parameters, workers, codebooks, statistics);
  }

  @Override
  public KnnVectorsWriter fieldsWriter(SegmentWriteState state) throws IOException {
    // For tools that list a segment's attributes: nothing else shows them its vector formats.
    state.segmentInfo.putAttribute(NAME, Integer.toString(VERSION_CURRENT));
    return new VamanaVectorsWriter(state, rawFormat, building);
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
