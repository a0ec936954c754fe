package dev.vamana.elasticsearch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntPredicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Vectors that documents 0, 1, ... of an index get, with the answers that exact search over them
 * gives. The same seed gives the same vectors.
 */
final class TestVectors {
  /** Elasticsearch's similarities with the scores that it documents for them. */
  enum Similarity {
    L2_NORM {
      @Override
      double score(float[] a, float[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
          sum += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
        }
        return 1 / (1 + sum);
      }
    },
    COSINE {
      @Override
      double score(float[] a, float[] b) {
        return (1 + dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))) / 2;
      }
    },
    DOT_PRODUCT {
      @Override
      double score(float[] a, float[] b) {
        return (1 + dot(a, b)) / 2;
      }
    },
    MAX_INNER_PRODUCT {
      @Override
      double score(float[] a, float[] b) {
        double dot = dot(a, b);
        return dot < 0 ? 1 / (1 - dot) : dot + 1;
      }
    };

    abstract double score(float[] a, float[] b);

    private static double dot(float[] a, float[] b) {
      double sum = 0;
      for (int i = 0; i < a.length; i++) {
        sum += (double) a[i] * b[i];
      }
      return sum;
    }
  }

  private final List<float[]> vectors = new ArrayList<>();
  private final int dims;

  private TestVectors(int dims) {
    this.dims = dims;
  }

  /** Components are multiples of 1/8 from -4 to 4: every element type but byte keeps them exact. */
  static TestVectors random(int count, int dims, long seed) {
    TestVectors made = new TestVectors(dims);
    Random random = new Random(seed);
    for (int i = 0; i < count; i++) {
      float[] vector = new float[dims];
      for (int j = 0; j < dims; j++) {
        vector[j] = (random.nextInt(65) - 32) / 8f;
      }
      made.vectors.add(vector);
    }
    return made;
  }

  /** Random vectors of length 1, which similarity {@code dot_product} asks for. */
  static TestVectors randomUnit(int count, int dims, long seed) {
    TestVectors made = random(count, dims, seed);
    for (float[] vector : made.vectors) {
      double length = Math.sqrt(Similarity.dot(vector, vector));
      for (int j = 0; j < dims; j++) {
        vector[j] = (float) (vector[j] / length);
      }
    }
    return made;
  }

  /**
   * Vectors around common centres, like vectors of texts and pictures: the spread of a cluster is a
   * quarter of the spread of the centres. Components are multiples of 1/64.
   */
  static TestVectors clustered(int count, int dims, int clusters, long seed) {
    TestVectors made = new TestVectors(dims);
    Random random = new Random(seed);
    double[][] centres = new double[clusters][dims];
    for (double[] centre : centres) {
      for (int j = 0; j < dims; j++) {
        centre[j] = random.nextGaussian();
      }
    }
    for (int i = 0; i < count; i++) {
      double[] centre = centres[random.nextInt(clusters)];
      float[] vector = new float[dims];
      for (int j = 0; j < dims; j++) {
        vector[j] = Math.round(64 * (centre[j] + random.nextGaussian() / 4)) / 64f;
      }
      made.vectors.add(vector);
    }
    return made;
  }

  /** Random vectors of whole numbers from -128 to 127. */
  static TestVectors randomBytes(int count, int dims, long seed) {
    TestVectors made = new TestVectors(dims);
    Random random = new Random(seed);
    for (int i = 0; i < count; i++) {
      float[] vector = new float[dims];
      for (int j = 0; j < dims; j++) {
        vector[j] = random.nextInt(256) - 128;
      }
      made.vectors.add(vector);
    }
    return made;
  }

  int count() {
    return vectors.size();
  }

  int dims() {
    return dims;
  }

  float[] vector(int doc) {
    return vectors.get(doc);
  }

  /** A vector as a JSON array; of whole numbers, if they all are. */
  static String json(float[] vector) {
    boolean whole = true;
    for (float value : vector) {
      whole &= value == (int) value;
    }
    if (whole) {
      int[] numbers = new int[vector.length];
      for (int i = 0; i < vector.length; i++) {
        numbers[i] = (int) vector[i];
      }
      return Arrays.toString(numbers);
    }
    return Arrays.toString(vector);
  }

  String json(int doc) {
    return json(vectors.get(doc));
  }

  /**
   * The body of a batched search over field {@code v}, whose queries are the first vectors.
   *
   * @param more further members of the JSON object
   */
  String batchedSearch(int queries, int k, int candidates, String more) {
    String all = IntStream.range(0, queries).mapToObj(this::json).collect(Collectors.joining(","));
    return Json.of(
        """
        {"field": "v", "query_vectors": [%s], "k": %d, "num_candidates": %d, %s}
        """,
        all, k, candidates, more);
  }

  /** The score of every accepted document. */
  Map<Integer, Double> scores(float[] query, Similarity similarity, IntPredicate accepted) {
    Map<Integer, Double> scores = new LinkedHashMap<>();
    for (int doc = 0; doc < vectors.size(); doc++) {
      if (accepted.test(doc)) {
        scores.put(doc, similarity.score(query, vectors.get(doc)));
      }
    }
    return scores;
  }

  /** The scores of the {@code k} nearest accepted documents, best first. */
  Map<Integer, Double> nearest(float[] query, int k, Similarity similarity, IntPredicate accepted) {
    return best(scores(query, similarity, accepted), k);
  }

  /** The {@code k} best of some scores, best first. */
  static Map<Integer, Double> best(Map<Integer, Double> scores, int k) {
    ToDoubleFunction<Map.Entry<Integer, Double>> score = Map.Entry::getValue;
    Map<Integer, Double> best = new LinkedHashMap<>();
    scores.entrySet().stream()
        .sorted(Comparator.comparingDouble(score).reversed())
        .limit(k)
        .forEach(entry -> best.put(entry.getKey(), entry.getValue()));
    return best;
  }
}
