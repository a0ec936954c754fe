package dev.vamana.tools.benchmark;

import dev.vamana.tools.datasets.VectorSet;
import io.github.jbellis.jvector.disk.BufferedRandomAccessWriter;
import io.github.jbellis.jvector.disk.ReaderSupplier;
import io.github.jbellis.jvector.disk.ReaderSupplierFactory;
import io.github.jbellis.jvector.graph.GraphIndexBuilder;
import io.github.jbellis.jvector.graph.GraphSearcher;
import io.github.jbellis.jvector.graph.ListRandomAccessVectorValues;
import io.github.jbellis.jvector.graph.SearchResult;
import io.github.jbellis.jvector.graph.disk.OnDiskGraphIndex;
import io.github.jbellis.jvector.graph.similarity.BuildScoreProvider;
import io.github.jbellis.jvector.graph.similarity.DefaultSearchScoreProvider;
import io.github.jbellis.jvector.graph.similarity.ScoreFunction;
import io.github.jbellis.jvector.quantization.KMeansPlusPlusClusterer;
import io.github.jbellis.jvector.quantization.PQVectors;
import io.github.jbellis.jvector.quantization.ProductQuantization;
import io.github.jbellis.jvector.util.Bits;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import io.github.jbellis.jvector.vector.types.VectorTypeSupport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.Stream;

/**
 * Builds and searches jvector indexes. The contender builds one graph with exact scores, writes it
 * with its vectors and maps the file. Searches use either exact scores, or product quantization
 * codes in heap with exact re-ranking from the mapped file. The variant {@code jvector-pqN} has one
 * subspace per N dimensions.
 */
final class JvectorContender implements Contender {
  static final String EXACT = "jvector-exact";
  static final String PQ = "jvector-pq";

  private static final int MAX_DEGREE = 32;
  private static final int BEAM_WIDTH = 100;
  private static final float OVERFLOW = 1.2f;
  private static final float ALPHA = 1.2f;
  private static final int CENTROIDS = 256;
  private static final List<Integer> DIMENSIONS_PER_SUBSPACE = List.of(2, 4, 8);

  @Override
  public List<String> names() {
    List<String> names = new ArrayList<>(List.of(EXACT));
    DIMENSIONS_PER_SUBSPACE.forEach(dimensions -> names.add(PQ + dimensions));
    return names;
  }

  @Override
  public List<BuiltIndex> build(VectorSet set, Set<String> wanted, Path folder) throws IOException {
    VectorTypeSupport types = VectorizationProvider.getInstance().getVectorTypeSupport();
    VectorSimilarityFunction similarity = similarity(set);
    VectorFloat<?>[] queries = vectors(types, set.queries().rows());
    Path graphFile = folder.resolve("graph.jvector");
    List<BuiltIndex> built = new ArrayList<>();
    try (ForkJoinPool pool = new ForkJoinPool(1)) {
      ListRandomAccessVectorValues base =
          new ListRandomAccessVectorValues(
              List.of(vectors(types, set.base().rows())), set.dimension());
      BuildCost graph = BuildCost.of(() -> writeGraph(base, similarity, pool, graphFile));
      if (wanted.contains(EXACT)) {
        built.add(
            new BuiltIndex(
                EXACT,
                graph,
                BuiltIndex.bytesByExtension(Stream.of(graphFile)),
                new Searcher(graphFile, null, similarity, queries)));
      }
      for (int dimensions : DIMENSIONS_PER_SUBSPACE) {
        if (wanted.contains(PQ + dimensions)) {
          int subspaces = Math.ceilDiv(set.dimension(), dimensions);
          Path codesFile = folder.resolve("m" + subspaces + ".pq");
          PQVectors[] codes = new PQVectors[1];
          BuildCost more =
              BuildCost.of(
                  () -> codes[0] = writeCodes(base, subspaces, similarity, pool, codesFile));
          built.add(
              new BuiltIndex(
                  PQ + dimensions,
                  graph.and(more),
                  BuiltIndex.bytesByExtension(Stream.of(graphFile, codesFile)),
                  new Searcher(graphFile, codes[0], similarity, queries)));
        }
      }
    }
    return built;
  }

  private static void writeGraph(
      ListRandomAccessVectorValues base,
      VectorSimilarityFunction similarity,
      ForkJoinPool pool,
      Path file)
      throws IOException {
    BuildScoreProvider scores = BuildScoreProvider.randomAccessScoreProvider(base, similarity);
    try (GraphIndexBuilder builder =
        new GraphIndexBuilder(
            scores,
            base.dimension(),
            MAX_DEGREE,
            BEAM_WIDTH,
            OVERFLOW,
            ALPHA,
            false,
            true,
            pool,
            pool)) {
      OnDiskGraphIndex.write(builder.build(base), base, file);
    }
  }

  private static PQVectors writeCodes(
      ListRandomAccessVectorValues base,
      int subspaces,
      VectorSimilarityFunction similarity,
      ForkJoinPool pool,
      Path file)
      throws IOException {
    // jvector's tables of inner products do not take a centre into account
    boolean centre = similarity == VectorSimilarityFunction.EUCLIDEAN;
    ProductQuantization quantization =
        ProductQuantization.compute(
            base, subspaces, CENTROIDS, centre, KMeansPlusPlusClusterer.UNWEIGHTED, pool, pool);
    PQVectors codes = quantization.encodeAll(base, pool);
    try (BufferedRandomAccessWriter out = new BufferedRandomAccessWriter(file)) {
      codes.write(out, OnDiskGraphIndex.CURRENT_VERSION);
    }
    return codes;
  }

  private static VectorFloat<?>[] vectors(VectorTypeSupport types, float[][] rows) {
    return Arrays.stream(rows).map(types::createFloatVector).toArray(VectorFloat<?>[]::new);
  }

  private static VectorSimilarityFunction similarity(VectorSet set) {
    return switch (set.similarity()) {
      case EUCLIDEAN -> VectorSimilarityFunction.EUCLIDEAN;
      case COSINE -> VectorSimilarityFunction.COSINE;
      case DOT_PRODUCT, MAXIMUM_INNER_PRODUCT -> VectorSimilarityFunction.DOT_PRODUCT;
    };
  }

  private static final class Searcher implements QuerySearcher {
    private final ReaderSupplier file;
    private final OnDiskGraphIndex graph;
    private final GraphSearcher searcher;
    private final OnDiskGraphIndex.View view;
    private final PQVectors codes;
    private final VectorSimilarityFunction similarity;
    private final VectorFloat<?>[] queries;

    /**
     * Makes a searcher.
     *
     * @param codes codes to search on, or null for exact scores
     */
    Searcher(
        Path graphFile,
        PQVectors codes,
        VectorSimilarityFunction similarity,
        VectorFloat<?>[] queries)
        throws IOException {
      this.file = ReaderSupplierFactory.open(graphFile);
      this.graph = OnDiskGraphIndex.load(file);
      this.searcher = new GraphSearcher(graph);
      this.view = (OnDiskGraphIndex.View) searcher.getView();
      this.codes = codes;
      this.similarity = similarity;
      this.queries = queries;
    }

    @Override
    public void search(int query, int width, int[] nearest) {
      ScoreFunction.ExactScoreFunction exact = view.rerankerFor(queries[query], similarity);
      DefaultSearchScoreProvider scores =
          codes == null
              ? new DefaultSearchScoreProvider(exact)
              : new DefaultSearchScoreProvider(
                  codes.precomputedScoreFunctionFor(queries[query], similarity), exact);
      SearchResult found = searcher.search(scores, nearest.length, width, 0f, 0f, Bits.ALL);
      SearchResult.NodeScore[] nodes = found.getNodes();
      for (int i = 0; i < nearest.length; i++) {
        nearest[i] = i < nodes.length ? nodes[i].node : -1;
      }
    }

    @Override
    public void close() throws IOException {
      searcher.close();
      graph.close();
      file.close();
    }
  }
}
