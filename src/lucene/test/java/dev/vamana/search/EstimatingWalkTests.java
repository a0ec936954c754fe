package dev.vamana.search;

import com.carrotsearch.randomizedtesting.generators.RandomPicks;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.vectors.ScalarFilter;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.VectorUtil;

/** Walks that estimate distances by scalar codes. */
public class EstimatingWalkTests extends SearchTestCase {

  private static final int SIZE = 3_000;
  private static final int DIMS = 320;

  /** Fewest components of vectors with codes, in one word and a half. */
  private static final int FEW_DIMS = 100;

  private static final int LATENT = 24;
  private static final int QUERIES = 40;
  private static final int K = 10;

  /**
   * Candidates of the search for a long vector. The graph has edges by products, which that vector
   * wins everywhere; with 10 candidates one walk of twenty misses it.
   */
  private static final int BEAM = 50;

  private static float[][] vectors(int count, VectorSimilarityFunction similarity) {
    return vectors(count, DIMS, similarity);
  }

  /** Vectors around centres in a space of few dimensions, away from zero, of many lengths. */
  private static float[][] vectors(int count, int dims, VectorSimilarityFunction similarity) {
    Random random = new Random(random().nextLong());
    Random fixed = new Random(5);
    float[][] map = new float[dims][LATENT];
    for (float[] row : map) {
      for (int l = 0; l < LATENT; l++) {
        row[l] = (float) fixed.nextGaussian();
      }
    }
    float[][] centres = new float[30][LATENT];
    for (float[] centre : centres) {
      for (int l = 0; l < LATENT; l++) {
        centre[l] = (float) fixed.nextGaussian();
      }
    }
    float[][] vectors = new float[count][dims];
    for (float[] vector : vectors) {
      float[] centre = centres[random.nextInt(centres.length)];
      float[] point = new float[LATENT];
      for (int l = 0; l < LATENT; l++) {
        point[l] = centre[l] + 0.6f * (float) random.nextGaussian();
      }
      for (int d = 0; d < dims; d++) {
        vector[d] = VectorUtil.dotProduct(map[d], point) + 1;
      }
      if (similarity == VectorSimilarityFunction.DOT_PRODUCT) {
        VectorUtil.l2normalize(vector);
      }
    }
    return vectors;
  }

  private static void index(
      Directory directory, float[][] base, VectorSimilarityFunction similarity) throws IOException {
    VamanaParameters parameters =
        VamanaParameters.DEFAULT.withGraph(32, 64, 1.2f).withThresholds(0, Integer.MAX_VALUE);
    IndexWriterConfig config =
        new IndexWriterConfig()
            .setCodec(
                TestUtil.alwaysKnnVectorsFormat(
                    new VamanaVectorsFormat(parameters, Workers.callingThread())))
            .setMergePolicy(NoMergePolicy.INSTANCE);
    try (IndexWriter writer = new IndexWriter(directory, config)) {
      for (float[] vector : base) {
        Document document = new Document();
        document.add(new KnnFloatVectorField(FIELD, vector, similarity));
        writer.addDocument(document);
      }
    }
  }

  private static SegmentView view(DirectoryReader reader) {
    KnnVectorsReader vectors = ((CodecReader) reader.leaves().get(0).reader()).getVectorReader();
    if (vectors instanceof PerFieldKnnVectorsFormat.FieldsReader fields) {
      vectors = fields.getFieldReader(FIELD);
    }
    return ((SegmentViews) vectors).view(FIELD);
  }

  private static double recall(
      float[][] base,
      VectorSimilarityFunction similarity,
      float[] query,
      Bits accepted,
      ScoreDoc[] hits) {
    int[] nearest =
        IntStream.range(0, base.length)
            .filter(i -> accepted == null || accepted.get(i))
            .boxed()
            .sorted(
                (a, b) ->
                    Float.compare(
                        similarity.compare(query, base[b]), similarity.compare(query, base[a])))
            .limit(K)
            .mapToInt(Integer::intValue)
            .toArray();
    assertEquals(K, hits.length);
    for (ScoreDoc hit : hits) {
      assertEquals(similarity.compare(query, base[hit.doc]), hit.score, 1e-4);
      assertTrue(accepted == null || accepted.get(hit.doc));
    }
    return Arrays.stream(hits)
            .filter(hit -> Arrays.stream(nearest).anyMatch(doc -> doc == hit.doc))
            .count()
        / (double) K;
  }

  /** All that codes are for in nightly runs, otherwise one of them. */
  private static List<VectorSimilarityFunction> similarities() {
    List<VectorSimilarityFunction> all =
        List.of(
            VectorSimilarityFunction.EUCLIDEAN,
            VectorSimilarityFunction.COSINE,
            VectorSimilarityFunction.DOT_PRODUCT);
    return TEST_NIGHTLY ? all : List.of(RandomPicks.randomFrom(random(), all));
  }

  /**
   * Walks with codes, of queries and of work items, find nearly what the walk finds that scores
   * every node that it meets, and score fewer.
   */
  public void testFewerScoresForTheSameHits() throws IOException {
    for (VectorSimilarityFunction similarity : similarities()) {
      int dims = random().nextBoolean() ? DIMS : FEW_DIMS;
      fewerScoresForTheSameHits(similarity, vectors(SIZE + QUERIES, dims, similarity));
    }
  }

  /**
   * Products of vectors of other lengths say nothing of distances, so a segment with such a vector
   * has no codes. A long vector is the best hit of the queries that it points to.
   */
  public void testLongVectorsAmongUnitVectors() throws IOException {
    float[][] base = vectors(500, FEW_DIMS, VectorSimilarityFunction.DOT_PRODUCT);
    int longest = random().nextInt(base.length);
    float[] query = base[longest].clone();
    for (int d = 0; d < FEW_DIMS; d++) {
      base[longest][d] *= 1_000;
    }
    try (Directory directory = newDirectory()) {
      index(directory, base, VectorSimilarityFunction.DOT_PRODUCT);
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        assertNull(view(reader).distanceFilter(query));
        TopDocs found =
            new IndexSearcher(reader).search(new KnnFloatVectorQuery(FIELD, query, BEAM), K);
        assertEquals(longest, found.scoreDocs[0].doc);
      }
    }
  }

  private void fewerScoresForTheSameHits(VectorSimilarityFunction similarity, float[][] all)
      throws IOException {
    float[][] base = Arrays.copyOf(all, SIZE);
    FixedBitSet accepted = null;
    if (random().nextBoolean()) {
      accepted = new FixedBitSet(SIZE);
      accepted.set(0, SIZE);
      for (int i = 0; i < SIZE / 20; i++) {
        accepted.clear(random().nextInt(SIZE));
      }
    }
    try (Directory directory = directory()) {
      index(directory, base, similarity);
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        SegmentView view = view(reader);
        assertNotNull(view.distanceFilter(base[0]));
        double found = 0;
        double wanted = 0;
        long scored = 0;
        long all64 = 0;
        long estimates = 0;
        int alike = 0;
        int parents = 1 + random().nextInt(4);
        for (int q = 0; q < QUERIES; q++) {
          float[] query = all[SIZE + q];
          int beam = 2 * K;
          TopKnnCollector collector = new TopKnnCollector(beam, Integer.MAX_VALUE);
          SegmentSearch.search(
              view, QueryVector.of(query), collector, AcceptDocs.fromLiveDocs(accepted, SIZE));
          ScoreDoc[] hits = Arrays.copyOf(collector.topDocs().scoreDocs, K);
          found += recall(base, similarity, query, accepted, hits) / QUERIES;
          scored += collector.visitedCount();
          WorkItem item =
              Walks.item(
                  view,
                  QueryVector.of(query),
                  beam,
                  WalkParameters.exact(beam).withParents(parents),
                  accepted);
          WorkResult full = new ReferenceWalk(item).run();
          // without the scan that follows if either walk finds fewer hits than are wanted
          WorkResult estimated = ReferenceWalk.estimating(item).run();
          estimates += estimated.visited();
          for (int i = 0; i < K; i++) {
            alike += estimated.ordinals()[i] == full.ordinals()[i] ? 1 : 0;
          }
          ScoreDoc[] expected = new ScoreDoc[K];
          for (int i = 0; i < K; i++) {
            expected[i] = new ScoreDoc(full.ordinals()[i], full.scores()[i]);
          }
          wanted += recall(base, similarity, query, accepted, expected) / QUERIES;
          all64 += full.visited();
        }
        String what = similarity + ": recall " + found + " of " + wanted + ", " + scored;
        assertTrue(what, found >= wanted - 0.05);
        assertTrue(what + " of " + all64, scored < 0.9 * all64);
        String items = parents + " parents, " + estimates + " of " + all64 + ", " + alike;
        assertTrue(items, estimates < 0.9 * all64);
        assertTrue(items, alike >= 0.97 * K * QUERIES);
      }
    }
  }

  /** Every candidate is kept or left out; the order of the kept ones stays; near ones are kept. */
  public void testFilterParts() throws IOException {
    VectorSimilarityFunction similarity = VectorSimilarityFunction.EUCLIDEAN;
    float[][] base = vectors(500, similarity);
    try (Directory directory = directory()) {
      index(directory, base, similarity);
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        SegmentView view = view(reader);
        for (int round = 0; round < 20; round++) {
          float[] query = base[random().nextInt(base.length)];
          ScalarFilter filter = view.distanceFilter(query);
          int[] candidates = random().ints(50, 0, base.length).distinct().toArray();
          int[] ordinals = candidates.clone();
          int[] leftOut = new int[ordinals.length + 3];
          float[] scores = new float[base.length];
          for (int i = 0; i < base.length; i++) {
            scores[i] = similarity.compare(query, base[i]);
          }
          float worst = scores[random().nextInt(base.length)];
          int kept = filter.keep(ordinals, candidates.length, leftOut, 3, worst);
          int[] order = Arrays.copyOf(ordinals, kept);
          int[] rest = Arrays.copyOfRange(leftOut, 3, 3 + candidates.length - kept);
          int[] inOrder =
              Arrays.stream(candidates)
                  .filter(o -> Arrays.stream(order).anyMatch(k -> k == o))
                  .toArray();
          assertArrayEquals(inOrder, order);
          int[] together =
              IntStream.concat(Arrays.stream(order), Arrays.stream(rest)).sorted().toArray();
          assertArrayEquals(Arrays.stream(candidates).sorted().toArray(), together);
          filter.sort(ordinals, kept);
          assertArrayEquals(
              Arrays.stream(order).sorted().toArray(),
              Arrays.stream(ordinals, 0, kept).sorted().toArray());
          assertEquals(kept, filter.within(kept, worst));
          float higher = scores[random().nextInt(base.length)];
          int within = filter.within(kept, Math.max(worst, higher));
          for (int i = 0; i < kept; i++) {
            double distance = 1 / scores[ordinals[i]] - 1;
            double bound = 1 / Math.max(worst, higher) - 1;
            assertTrue(i < within || distance > 0.4 * bound);
          }
          // nothing is left out whose distance is within the bound by far
          for (int ordinal : rest) {
            double distance = 1 / scores[ordinal] - 1;
            assertTrue(distance + " " + (1 / worst - 1), distance > 0.4 * (1 / worst - 1));
          }
        }
      }
    }
  }

  public void testFieldsWithoutCodes() throws IOException {
    float[][] base = vectors(300, VectorSimilarityFunction.EUCLIDEAN);
    try (Directory directory = directory()) {
      index(directory, base, VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT);
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        assertTrue(view(reader).hasGraph());
        assertNull(view(reader).distanceFilter(base[0]));
      }
    }
  }
}
