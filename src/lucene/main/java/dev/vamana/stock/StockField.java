package dev.vamana.stock;

import dev.vamana.graph.StoredAdjacency;
import dev.vamana.pq.Codebook;
import dev.vamana.search.AcceptedOrdinals;
import dev.vamana.search.CancellableCollector;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkChange;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.vectors.FileRegion;
import dev.vamana.vectors.Medoid;
import dev.vamana.vectors.RawComparison;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.codecs.hnsw.FlatVectorsScorer;
import org.apache.lucene.codecs.hnsw.HnswGraphProvider;
import org.apache.lucene.codecs.lucene95.HasIndexSlice;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.search.VectorScorer;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FilterDirectory;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.hnsw.HnswGraph;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * One field of an open segment in one of Lucene's HNSW formats, as executors see it: level 0 of its
 * graph and its raw vectors. Thread-safe.
 *
 * <p>Nothing is read in place, because an executor learns only after a segment's files were closed
 * that they are.
 */
final class StockField implements SegmentView {

  /** Nodes whose neighbours are counted for the mean degree. */
  private static final int DEGREE_SAMPLE = 256;

  /** Relative difference between scores of one format and the similarity function's. */
  private static final float SCORE_TOLERANCE = 1e-3f;

  /** Relative difference of scores that are computed in another order of additions. */
  private static final float SAME_SCORE = 1e-5f;

  /** Directories are compared by identity. */
  private record Family(Directory directory, String field) {}

  private final String name;
  private final Family family;
  private final FieldInfo info;
  private final KnnVectorsReader reader;
  private final HnswGraphProvider graphs;
  private final FlatVectorsScorer scorers = FlatVectorScorerUtil.getLucene99FlatVectorsScorer();
  private final int size;
  private final boolean dense;
  private final int maxDegree;
  private final AcceptedOrdinals acceptedOrdinals = new AcceptedOrdinals();
  private volatile Supplier<WalkChange> walkChanges = () -> WalkChange.NONE;
  // the following are found out when they are asked for
  private volatile Optional<RawComparison> rawComparison;
  private volatile float meanDegree;
  private volatile int medoid = -1;
  private volatile StockGraph graph;

  private StockField(
      String segment,
      Directory directory,
      int documents,
      FieldInfo info,
      KnnVectorsReader reader,
      HnswGraphProvider graphs,
      int maxDegree,
      int size) {
    this.name = segment + " " + info.name;
    this.family = new Family(FilterDirectory.unwrap(directory), info.name);
    this.info = info;
    this.reader = reader;
    this.graphs = graphs;
    this.maxDegree = maxDegree;
    this.size = size;
    this.dense = size == documents;
  }

  /**
   * Opens a field. Returns null if only its own format can search it: it has no HNSW graph, or its
   * scores do not follow from the similarity function.
   *
   * @param segment name of the segment, for messages
   * @param documents number of documents of the segment, deleted ones included
   * @param segmentReader the segment's reader of vectors, open as long as the field is used
   */
  static StockField open(
      String segment,
      Directory directory,
      int documents,
      FieldInfo info,
      KnnVectorsReader segmentReader)
      throws IOException {
    KnnVectorsReader reader =
        segmentReader instanceof PerFieldKnnVectorsFormat.FieldsReader perField
            ? perField.getFieldReader(info.name)
            : segmentReader;
    if (reader instanceof HnswGraphProvider graphs) {
      KnnVectorValues values = values(reader, info);
      HnswGraph graph = values == null || values.size() == 0 ? null : graphs.getGraph(info.name);
      if (graph != null
          && graph.size() == values.size()
          && graph.maxConn() != HnswGraph.UNKNOWN_MAX_CONN
          && scoresFollow(values, info.getVectorSimilarityFunction())) {
        // Lucene keeps twice as many neighbours at level 0 as above
        int degree = StoredAdjacency.stride(2 * graph.maxConn());
        return new StockField(
            segment, directory, documents, info, reader, graphs, degree, values.size());
      }
    }
    return null;
  }

  private static KnnVectorValues values(KnnVectorsReader reader, FieldInfo info)
      throws IOException {
    return info.getVectorEncoding() == VectorEncoding.FLOAT32
        ? reader.getFloatVectorValues(info.name)
        : reader.getByteVectorValues(info.name);
  }

  /** Compares the first vector with the last one by the format and by the similarity function. */
  private static boolean scoresFollow(KnnVectorValues values, VectorSimilarityFunction similarity)
      throws IOException {
    int last = values.size() - 1;
    VectorScorer exact;
    float expected;
    if (values instanceof FloatVectorValues floats) {
      float[] query = floats.vectorValue(last).clone();
      exact = floats.copy().rescorer(query);
      expected = similarity.compare(query, floats.vectorValue(0));
    } else {
      ByteVectorValues bytes = (ByteVectorValues) values;
      byte[] query = bytes.vectorValue(last).clone();
      exact = bytes.copy().rescorer(query);
      expected = similarity.compare(query, bytes.vectorValue(0));
    }
    exact.iterator().nextDoc();
    float score = exact.score();
    return Math.abs(score - expected) <= SCORE_TOLERANCE * Math.max(1, Math.abs(expected));
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Directory directory() {
    return family.directory();
  }

  @Override
  public Object family() {
    return family;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public int dimension() {
    return info.getVectorDimension();
  }

  @Override
  public VectorEncoding encoding() {
    return info.getVectorEncoding();
  }

  @Override
  public VectorSimilarityFunction similarity() {
    return info.getVectorSimilarityFunction();
  }

  @Override
  public boolean isDense() {
    return dense;
  }

  @Override
  public boolean hasGraph() {
    return true;
  }

  @Override
  public int maxDegree() {
    return maxDegree;
  }

  @Override
  public float meanDegree() {
    if (meanDegree == 0) {
      try {
        HnswGraph level = graphs.getGraph(info.name);
        int count = Math.min(size, DEGREE_SAMPLE);
        long edges = 0;
        for (int i = 0; i < count; i++) {
          level.seek(0, (int) ((long) i * size / count));
          edges += level.neighborCount();
        }
        meanDegree = Math.max(1, edges) / (float) count;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return meanDegree;
  }

  @Override
  public int medoid() {
    if (medoid < 0) {
      try {
        medoid = Medoid.find(vectors(), similarity());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return medoid;
  }

  @Override
  public StockGraph adjacency() throws IOException {
    if (graph == null) {
      synchronized (this) {
        if (graph == null) {
          graph =
              StockGraph.open(name, () -> graphs.getGraph(info.name), size, maxDegree, medoid());
        }
      }
    }
    return graph.copy();
  }

  @Override
  public AcceptedOrdinals acceptedOrdinals() {
    return acceptedOrdinals;
  }

  @Override
  public RandomVectorScorer scorer(QueryVector query) throws IOException {
    KnnVectorValues raw = vectors();
    if (rawSlice(raw) == null) {
      raw = withoutSlice(raw);
    }
    return query.floats() != null
        ? scorers.getRandomVectorScorer(similarity(), raw, query.floats())
        : scorers.getRandomVectorScorer(similarity(), raw, query.bytes());
  }

  // cached in a field, since the decision reads some vectors
  @SuppressWarnings("OptionalAssignedToNull")
  @Override
  public RawComparison rawComparison() throws IOException {
    Optional<RawComparison> known = rawComparison;
    if (known == null) {
      known = Optional.ofNullable(RawComparison.neededFor(vectors(), similarity()));
      rawComparison = known;
    }
    return known.orElse(null);
  }

  @Override
  public KnnVectorValues vectors() throws IOException {
    return values(reader, info);
  }

  @Override
  public Codebook codebook() {
    return null;
  }

  @Override
  public FileRegion graphRegion() {
    int width = maxDegree * Integer.BYTES;
    return region(new RowInput(name + " graph", () -> adjacency().rows(), size, width));
  }

  @Override
  public FileRegion codesRegion() {
    return null;
  }

  @Override
  public FileRegion vectorsRegion() throws IOException {
    IndexInput slice = rawSlice(vectors());
    int width = dimension() * encoding().byteSize;
    return slice != null
        ? FileRegion.unmapped(slice, 0, slice.length())
        : region(new RowInput(name + " vectors", this::rows, size, width));
  }

  private static FileRegion region(RowInput input) {
    return FileRegion.unmapped(input, 0, input.length());
  }

  /** Returns the raw vectors in the file, if it has them as they are scored; otherwise null. */
  private IndexInput rawSlice(KnnVectorValues values) {
    IndexInput slice = values instanceof HasIndexSlice sliced ? sliced.getSlice() : null;
    long bytes = (long) size * dimension() * encoding().byteSize;
    return slice != null && slice.length() == bytes ? slice : null;
  }

  private RowInput.Rows rows() throws IOException {
    if (vectors() instanceof FloatVectorValues floats) {
      return (ordinal, bytes) ->
          ByteBuffer.wrap(bytes)
              .order(ByteOrder.LITTLE_ENDIAN)
              .asFloatBuffer()
              .put(floats.vectorValue(ordinal));
    }
    ByteVectorValues values = (ByteVectorValues) vectors();
    return (ordinal, bytes) ->
        System.arraycopy(values.vectorValue(ordinal), 0, bytes, 0, bytes.length);
  }

  /** Hides a slice of the file in which vectors are not as they are scored, for instance halved. */
  private static KnnVectorValues withoutSlice(KnnVectorValues values) {
    return values instanceof HasIndexSlice && values instanceof FloatVectorValues floats
        ? new PlainFloats(floats)
        : values;
  }

  private static final class PlainFloats extends FloatVectorValues {
    private final FloatVectorValues in;

    PlainFloats(FloatVectorValues in) {
      this.in = in;
    }

    @Override
    public float[] vectorValue(int ordinal) throws IOException {
      return in.vectorValue(ordinal);
    }

    @Override
    public FloatVectorValues copy() throws IOException {
      return new PlainFloats(in.copy());
    }

    @Override
    public int dimension() {
      return in.dimension();
    }

    @Override
    public int size() {
      return in.size();
    }

    @Override
    public int ordToDoc(int ordinal) {
      return in.ordToDoc(ordinal);
    }

    @Override
    public Bits getAcceptOrds(Bits acceptDocs) {
      return in.getAcceptOrds(acceptDocs);
    }

    @Override
    public DocIndexIterator iterator() {
      return in.iterator();
    }
  }

  @Override
  public WalkChange walkChange() {
    return walkChanges.get();
  }

  @Override
  public void walkChanges(Supplier<WalkChange> source) {
    walkChanges = source;
  }

  @Override
  public FormatSearch formatSearch() {
    return this::search;
  }

  /** Searches by the format, and scores its hits exactly if its own scores are estimates. */
  private WorkResult search(WorkItem item) throws IOException {
    KnnVectorValues values = vectors();
    ItemDocs docs = new ItemDocs(item, values, dense);
    CancellableCollector hits = collector(item);
    if (item.query().floats() != null) {
      reader.search(info.name, item.query().floats(), hits, docs);
    } else {
      reader.search(info.name, item.query().bytes(), hits, docs);
    }
    ScoreDoc[] found = hits.topDocs().scoreDocs;
    int[] ordinals = new int[found.length];
    for (int i = 0; i < ordinals.length; i++) {
      ordinals[i] = docs.ordinal(found[i].doc);
    }
    boolean complete = hits.earlyTerminated() == false;
    if (found.length > 0
        && Math.abs(scorer(item.query()).score(ordinals[0]) - found[0].score)
            > SAME_SCORE * found[0].score) {
      return CpuExecutor.rerank(item, ordinals, hits.visitedCount(), complete);
    }
    int count = Math.min(item.k(), found.length);
    float[] scores = new float[count];
    for (int i = 0; i < count; i++) {
      scores[i] = found[i].score;
    }
    return new WorkResult(Arrays.copyOf(ordinals, count), scores, hits.visitedCount(), complete);
  }

  private CancellableCollector collector(WorkItem item) {
    KnnSearchStrategy strategy = item.terms().strategy();
    if (strategy instanceof KnnSearchStrategy.Seeded seeded) {
      // whoever made the item has read the entry points
      strategy = seeded.originalStrategy();
    }
    int beam = Math.min(size, Math.max(item.k(), item.walk().beamWidth()));
    int limit = (int) Math.min(Integer.MAX_VALUE, item.visitLimit());
    return new CancellableCollector(
        strategy == null
            ? new TopKnnCollector(beam, limit)
            : new TopKnnCollector(beam, limit, strategy),
        item.cancelled());
  }

  @Override
  public String toString() {
    return name;
  }
}
