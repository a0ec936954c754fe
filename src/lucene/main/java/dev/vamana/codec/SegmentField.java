package dev.vamana.codec;

import dev.vamana.graph.Adjacency;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.ivf.InvertedLists;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.search.AcceptedOrdinals;
import dev.vamana.search.LabelGraphs;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkChange;
import dev.vamana.vectors.FileChecks;
import dev.vamana.vectors.FileRegion;
import dev.vamana.vectors.RawComparison;
import dev.vamana.vectors.ScalarCodes;
import dev.vamana.vectors.ScalarFilter;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.lucene.codecs.hnsw.FlatVectorsReader;
import org.apache.lucene.codecs.lucene95.HasIndexSlice;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/** One vector field of an open segment, as searches, merges and executors read it. Thread-safe. */
final class SegmentField implements SegmentView {

  /** Directories are compared by identity. */
  record Family(Directory directory, String field) {}

  // not the file's extension: Lucene's statistics and checks take "vex" for an HNSW graph
  private static final String GRAPH_BYTES = "vamana_graph";
  private static final String LIST_BYTES = "vamana_lists";
  private static final String CODE_BYTES = "vamana_codes";
  private static final String SCALAR_BYTES = "vamana_scalars";
  private static final String LABEL_BYTES = "vamana_labels";

  private final String name;
  private final Directory directory;
  private final Family family;
  private final String field;
  private final FieldMetadata metadata;
  private final boolean dense;
  private final FlatVectorsReader raw;
  private final FileRegion graphRegion;
  private final StoredAdjacency adjacency;
  private final FileRegion scalarsRegion;
  private final InvertedLists lists;
  private final FileRegion codesRegion;
  private final FileRegion codebookRegion;
  private final FileChecks checks;
  private final LabelGraphs labels;
  private final AcceptedOrdinals acceptedOrdinals = new AcceptedOrdinals();
  private volatile Codebook codebook;
  private volatile ScalarCodes scalarCodes;
  private volatile Supplier<WalkChange> walkChanges = () -> WalkChange.NONE;
  // null until the first call has sampled the vectors
  private volatile Optional<RawComparison> rawComparison;

  /**
   * Makes a field.
   *
   * @param documents number of documents of the segment, deleted ones included
   */
  SegmentField(
      String name,
      Directory directory,
      String field,
      FieldMetadata metadata,
      int documents,
      FlatVectorsReader raw,
      IndexInput graph,
      IndexInput quantization,
      FileChecks checks)
      throws IOException {
    this.name = name;
    this.directory = directory;
    this.family = new Family(directory, field);
    this.field = field;
    this.metadata = metadata;
    this.dense = metadata.size() == documents;
    this.raw = raw;
    FieldMetadata.GraphMetadata rows = metadata.graph();
    this.graphRegion = rows == null ? null : FileRegion.of(graph, rows.offset(), rows.length());
    this.adjacency =
        rows == null ? null : new StoredAdjacency(graphRegion, metadata.size(), rows.stride());
    FieldMetadata.ScalarMetadata scalars = rows == null ? null : rows.scalars();
    this.scalarsRegion =
        scalars == null ? null : FileRegion.of(graph, scalars.offset(), scalars.length());
    ListMetadata stored = metadata.lists();
    this.lists =
        stored == null
            ? null
            : new InvertedLists(
                FileRegion.of(graph, stored.offset(), stored.length()),
                stored.shape(),
                stored.facts(),
                metadata.encoding(),
                metadata.similarity());
    FieldMetadata.QuantizationMetadata codes = metadata.quantization();
    this.codesRegion =
        codes == null
            ? null
            : FileRegion.of(quantization, codes.codesOffset(), codes.codesLength());
    this.codebookRegion =
        codes == null
            ? null
            : FileRegion.of(quantization, codes.codebookOffset(), codes.codebookLength());
    this.labels = labels(metadata, graph);
    this.checks =
        new FileChecks(
            checks.vectors(),
            graphRegion == null && hasLists() == false ? null : checks.graph(),
            codesRegion == null ? null : checks.codes());
    checkSize();
  }

  private static LabelGraphs labels(FieldMetadata metadata, IndexInput graph) throws IOException {
    LabelMetadata stored = metadata.labels();
    return stored == null
        ? null
        : new LabelGraphs(
            graph,
            stored.offset(),
            metadata.size(),
            stored.edges(),
            stored.sizes(),
            stored.entryPoints());
  }

  /** Ordinals below the metadata's size are read from the raw vectors without a further check. */
  private void checkSize() throws IOException {
    int stored;
    try {
      stored = vectors().size();
    } catch (IllegalArgumentException e) {
      throw new CorruptIndexException("the raw vectors do not have the field", name, e);
    }
    if (stored != metadata.size()) {
      throw new CorruptIndexException(
          "metadata has " + metadata.size() + " vectors, but there are " + stored, name);
    }
  }

  FieldMetadata metadata() {
    return metadata;
  }

  Map<String, Long> offHeapBytes() {
    Map<String, Long> bytes = new LinkedHashMap<>();
    if (graphRegion != null) {
      bytes.put(GRAPH_BYTES, graphRegion.length());
    }
    if (lists != null) {
      bytes.put(LIST_BYTES, lists.region().length());
    }
    if (codesRegion != null) {
      bytes.put(CODE_BYTES, codesRegion.length());
    }
    if (scalarsRegion != null) {
      bytes.put(SCALAR_BYTES, scalarsRegion.length());
    }
    if (labels != null) {
      bytes.put(LABEL_BYTES, metadata.labels().length());
    }
    return bytes;
  }

  @Override
  public Directory directory() {
    return directory;
  }

  @Override
  public Object family() {
    return family;
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
  public String name() {
    return name;
  }

  @Override
  public AcceptedOrdinals acceptedOrdinals() {
    return acceptedOrdinals;
  }

  @Override
  public int size() {
    return metadata.size();
  }

  @Override
  public int dimension() {
    return metadata.dimension();
  }

  @Override
  public VectorEncoding encoding() {
    return metadata.encoding();
  }

  @Override
  public VectorSimilarityFunction similarity() {
    return metadata.similarity();
  }

  @Override
  public boolean isDense() {
    return dense;
  }

  @Override
  public boolean hasGraph() {
    return adjacency != null;
  }

  @Override
  public boolean hasLists() {
    return lists() != null;
  }

  @Override
  public InvertedLists lists() {
    return lists != null && lists.shape().lists() > 1 ? lists : null;
  }

  @Override
  public InvertedLists scanCodes() {
    return lists != null && lists.shape().lists() == 1 ? lists : null;
  }

  @Override
  public int maxDegree() {
    return hasGraph() ? metadata.graph().maxDegree() : 0;
  }

  @Override
  public float meanDegree() {
    return hasGraph() ? (float) metadata.graph().edges() / size() : 0;
  }

  @Override
  public int medoid() {
    return hasGraph() ? metadata.graph().medoid() : -1;
  }

  @Override
  public Adjacency adjacency() throws IOException {
    if (adjacency == null) {
      throw new IllegalStateException(name + " has no graph");
    }
    return adjacency.copy();
  }

  @Override
  public RandomVectorScorer scorer(QueryVector query) throws IOException {
    checks.refuseDamaged();
    return new GuardedScorer(
        query.floats() != null
            ? raw.getRandomVectorScorer(field, query.floats())
            : raw.getRandomVectorScorer(field, query.bytes()));
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
    checks.refuseDamaged();
    return encoding() == VectorEncoding.FLOAT32
        ? raw.getFloatVectorValues(field)
        : raw.getByteVectorValues(field);
  }

  @Override
  public Codebook codebook() throws IOException {
    if (codebookRegion == null) {
      return null;
    }
    Codebook loaded = codebook;
    if (loaded == null) {
      float[] centroids = new float[Math.toIntExact(codebookRegion.length() / Float.BYTES)];
      codebookRegion.open().readFloats(centroids, 0, centroids.length);
      loaded =
          new Codebook(
              metadata.quantization().codebookId(),
              new SubspaceLayout(dimension(), metadata.quantization().subspaces()),
              centroids);
      // two threads may load it at once; both copies are equal
      codebook = loaded;
    }
    return loaded;
  }

  @Override
  public ScalarFilter distanceFilter(float[] query) throws IOException {
    ScalarCodes scalars = scalarCodes();
    return scalars == null ? null : scalars.filter(query);
  }

  @Override
  public LabelGraphs labels() {
    return labels;
  }

  /** Returns the segment's scalar codes, or null without. */
  ScalarCodes scalarCodes() throws IOException {
    if (scalarsRegion == null) {
      return null;
    }
    ScalarCodes loaded = scalarCodes;
    if (loaded == null) {
      loaded =
          new ScalarCodes(
              scalarsRegion,
              size(),
              dimension(),
              similarity(),
              metadata.graph().scalars().deviation());
      scalarCodes = loaded;
    }
    return loaded;
  }

  @Override
  public FileRegion graphRegion() {
    return graphRegion;
  }

  @Override
  public FileRegion codesRegion() {
    return codesRegion;
  }

  @Override
  public FileRegion vectorsRegion() throws IOException {
    if (vectors() instanceof HasIndexSlice sliced && sliced.getSlice() != null) {
      IndexInput slice = sliced.getSlice();
      return FileRegion.of(slice, 0, slice.length());
    }
    return null;
  }

  @Override
  public FileChecks fileChecks() {
    return checks;
  }

  @Override
  public String toString() {
    return name;
  }
}
