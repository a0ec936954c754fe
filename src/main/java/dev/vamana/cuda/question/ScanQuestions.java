package dev.vamana.cuda.question;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.exact.ExactBatch;
import dev.vamana.cuda.exact.ExactHits;
import dev.vamana.cuda.exact.ExactOptions;
import dev.vamana.cuda.exact.ExactRows;
import dev.vamana.cuda.exact.ExactScans;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.SessionHostMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Exact searches: by few queries and by many, by scores and by matrix products in every format,
 * among accepted rows, and over rows that are streamed in several tiles.
 */
final class ScanQuestions implements Questions {

  private static final int[] BATCHES = {1, 4, 8};
  // more hits than launches that select at once have
  private static final int MANY_HITS = 150;
  private static final int MANY_QUERIES = 4;
  // more queries than launches that select at once answer over so few rows; the known ones repeat
  private static final int PRODUCT_QUERIES = 80;
  // queries of a batch that shares its launch with others: one, or groups
  private static final int[] GROUPS = {1, 4};
  private static final float HALF = 0.5f;
  private static final int STEP = 9;

  // products from the first candidate on; the rows of floats are two tiles
  private static final ExactOptions OPTIONS = new ExactOptions(16L << 20, 64L << 10, 1);

  private final CudaDriver driver;
  private final KnownVectors known;
  private final ExactScans scans;
  private final DeviceBuffer floatRows;
  private final DeviceBuffer byteRows;
  private final ExactHits hits = new ExactHits();
  private final Arena arena = Arena.ofShared();
  private int next;

  /**
   * Makes streams.
   *
   * @param round number of the round, by which queries differ
   */
  ScanQuestions(CudaDriver driver, SessionHostMemory account, KnownVectors known, int round) {
    this.driver = driver;
    this.next = round;
    this.known = known;
    this.floatRows = new DeviceBuffer(driver, DeviceBudget.UNLIMITED);
    this.byteRows = new DeviceBuffer(driver, DeviceBudget.UNLIMITED);
    this.scans = new ExactScans(driver, account, OPTIONS);
  }

  @Override
  public List<Question> all() {
    List<Question> questions = new ArrayList<>();
    ExactRows floats = rows(VectorEncoding.FLOAT32, 1);
    ExactRows bytes = rows(VectorEncoding.BYTE, 1);
    ExactRows halves = rows(VectorEncoding.FLOAT32, HALF);
    for (int size : BATCHES) {
      questions.add(question("exact scan of floats", floats, size, KnownVectors.NEIGHBORS, 1));
      questions.add(question("exact scan of bytes", bytes, size, KnownVectors.NEIGHBORS, 1));
    }
    questions.add(question("exact scan of floats", floats, MANY_QUERIES, MANY_HITS, 1));
    questions.add(question("exact scan of bytes", bytes, MANY_QUERIES, MANY_HITS, 1));
    questions.add(new Question("exact scan of accepted floats", () -> among(floats)));
    for (int size : GROUPS) {
      questions.add(together(VectorEncoding.FLOAT32, floatRows, size));
      questions.add(together(VectorEncoding.BYTE, byteRows, size));
    }
    questions.add(products("unsigned", floats, 1));
    questions.add(products("half-precision", halves, HALF));
    questions.add(products("signed", bytes, 1));
    return questions;
  }

  private Question products(String format, ExactRows rows, double scale) {
    return question(
        "exact scan by " + format + " products",
        rows,
        PRODUCT_QUERIES,
        KnownVectors.NEIGHBORS,
        scale);
  }

  /** Two scans in one launch. */
  private Question together(VectorEncoding encoding, DeviceBuffer memory, int size) {
    return new Question(
        "exact scans of " + encoding + " vectors in one launch, " + size + " queries each",
        () -> {
          ExactRows rows = resident(encoding, memory);
          int[] firsts = {next(), next()};
          List<ExactScans.Asked> asked = new ArrayList<>();
          for (int first : firsts) {
            ExactBatch batch = batch(rows, first, size, KnownVectors.NEIGHBORS, 1);
            asked.add(new ExactScans.Asked(rows, batch, new ExactHits()));
          }
          scans.searchMany(asked);
          for (int i = 0; i < firsts.length; i++) {
            check(asked.get(i).batch(), asked.get(i).hits(), firsts[i], 1, null);
          }
        });
  }

  private Question question(String family, ExactRows rows, int size, int k, double scale) {
    return new Question(
        family + ", " + size + " queries",
        () -> {
          int first = next();
          search(rows, batch(rows, first, size, k, scale), first, scale);
        });
  }

  /**
   * Returns the first query of the next question. Each question begins with another one, so the
   * last answer, left in memory by a kernel that does nothing, is wrong.
   */
  private int next() {
    next = (next + STEP) % KnownVectors.QUERIES;
    return next;
  }

  private ExactRows resident(VectorEncoding encoding, DeviceBuffer memory) {
    MemorySegment host = components(encoding, 1);
    long address = memory.ensure(host.byteSize());
    long stream = driver.createStream();
    try {
      driver.copyToDevice(address, host, stream);
      driver.synchronize(stream);
    } finally {
      driver.destroyStream(stream);
    }
    return ExactRows.resident(
        address,
        KnownVectors.DIMENSION * encoding.byteSize,
        KnownVectors.SIZE,
        KnownVectors.DIMENSION,
        VectorSimilarityFunction.EUCLIDEAN,
        encoding);
  }

  private ExactRows rows(VectorEncoding encoding, float scale) {
    return ExactRows.streamed(
        components(encoding, scale),
        KnownVectors.DIMENSION * encoding.byteSize,
        KnownVectors.SIZE,
        KnownVectors.DIMENSION,
        VectorSimilarityFunction.EUCLIDEAN,
        encoding);
  }

  private MemorySegment components(VectorEncoding encoding, float scale) {
    boolean bytes = encoding == VectorEncoding.BYTE;
    int stride = KnownVectors.DIMENSION * encoding.byteSize;
    MemorySegment host = arena.allocate((long) KnownVectors.SIZE * stride, Long.BYTES);
    List<float[]> floats = known.floats();
    for (int i = 0; i < KnownVectors.SIZE; i++) {
      for (int d = 0; d < KnownVectors.DIMENSION; d++) {
        long component = (long) i * KnownVectors.DIMENSION + d;
        float value = floats.get(i)[d] * scale;
        if (bytes) {
          host.set(ValueLayout.JAVA_BYTE, component, (byte) value);
        } else {
          host.setAtIndex(ValueLayout.JAVA_FLOAT, component, value);
        }
      }
    }
    return host;
  }

  private ExactBatch batch(ExactRows rows, int first, int size, int k, double scale) {
    if (rows.encoding() == VectorEncoding.BYTE) {
      byte[][] queries = new byte[size][];
      for (int q = 0; q < size; q++) {
        queries[q] = known.byteQuery((first + q) % KnownVectors.QUERIES);
      }
      return ExactBatch.of(queries, k);
    }
    float[][] queries = new float[size][];
    for (int q = 0; q < size; q++) {
      queries[q] = known.query((first + q) % KnownVectors.QUERIES);
      for (int d = 0; d < KnownVectors.DIMENSION; d++) {
        queries[q][d] *= (float) scale;
      }
    }
    return ExactBatch.of(queries, k);
  }

  private void search(ExactRows rows, ExactBatch batch, int first, double scale) {
    scans.search(rows, batch, hits);
    check(batch, hits, first, scale, null);
  }

  /** Searches among every second row. */
  private void among(ExactRows rows) {
    int[] accepted = new int[KnownVectors.SIZE / 2];
    for (int i = 0; i < accepted.length; i++) {
      accepted[i] = 2 * i;
    }
    int first = next();
    ExactBatch batch = batch(rows, first, 1, KnownVectors.NEIGHBORS, 1).among(accepted);
    scans.search(rows, batch, hits);
    check(batch, hits, first, 1, accepted);
  }

  private void check(ExactBatch batch, ExactHits found, int first, double scale, int[] accepted) {
    for (int q = 0; q < batch.size(); q++) {
      int query = (first + q) % KnownVectors.QUERIES;
      Question.check(
          known.wrong(query, found.ordinals(q), found.scores(q), batch.k(), scale, accepted));
    }
  }

  @Override
  public void close() {
    try {
      scans.close();
      floatRows.free();
      byteRows.free();
    } finally {
      arena.close();
    }
  }
}
