package dev.vamana.cuda;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.codec.CodebookProvider;
import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.driver.FaultyDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.ivf.CodeKind;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import dev.vamana.vectors.FileRegion;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
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
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.IOFunction;

/** Tests segments whose codebooks and codes come from the executor, and executors that fail. */
public class GpuQuantizerTests extends GpuTestCase {

  private static final int DIMENSION = 400;
  private static final int SIZE = 3_000;
  private static final SubspaceLayout LAYOUT = new SubspaceLayout(DIMENSION, 50);

  /** Rows of integers, whose sums are exact. */
  private static float[][] rows() {
    Random random = new Random(random().nextLong());
    float[][] rows = new float[SIZE][DIMENSION];
    for (float[] row : rows) {
      int cluster = random.nextInt(40);
      for (int d = 0; d < DIMENSION; d++) {
        row[d] = (cluster * 31 + d * 7) % 61 + random.nextInt(20);
      }
    }
    return rows;
  }

  private static GpuExecutor open(SimulatedDriver driver, GpuListener listener) {
    return openAtOnce(
        QUIET.withBatches(BATCHES).withTimes(times -> times.retry(1_000_000, 8_000_000)),
        () -> driver,
        everything(Placement.EXACT),
        listener);
  }

  private static long counter(GpuExecutor executor, String group, String name) {
    return executor.statistics().counters().get(group).get(name);
  }

  /** Centroids and codes of a segment's file. */
  private record Quantized(float[] centroids, byte[] codes) {}

  /** Writes one segment and reads what became of its vectors. */
  private static Quantized write(float[][] rows, BuildStatistics statistics) throws IOException {
    VamanaParameters parameters =
        VamanaParameters.DEFAULT
            .withGraph(8, 16, 1.2f)
            .withThresholds(Integer.MAX_VALUE, 0)
            .withSubspaces(LAYOUT.count());
    return write(
        rows,
        parameters,
        statistics,
        view ->
            new Quantized(
                view.codebook().centroids().clone(),
                bytes(view.codesRegion(), SIZE * LAYOUT.count())));
  }

  /** Writes one segment with inverted lists and returns their bytes. */
  private static byte[] writeLists(float[][] rows, BuildStatistics statistics) throws IOException {
    return write(
        rows,
        VamanaParameters.DEFAULT.withThresholds(0, 0).withType(IndexType.IVF, CodeKind.RABITQ1),
        statistics,
        view -> bytes(view.lists().region(), Math.toIntExact(view.lists().region().length())));
  }

  private static byte[] bytes(FileRegion region, int count) throws IOException {
    byte[] bytes = new byte[count];
    region.open().readBytes(bytes, 0, count);
    return bytes;
  }

  private static <T> T write(
      float[][] rows,
      VamanaParameters parameters,
      BuildStatistics statistics,
      IOFunction<SegmentView, T> reading)
      throws IOException {
    VamanaVectorsFormat format =
        new VamanaVectorsFormat(
            parameters, Workers.callingThread(), CodebookProvider.NONE, statistics);
    try (Directory directory =
            random().nextBoolean() ? newDirectory() : new MMapDirectory(createTempDir());
        IndexWriter writer =
            new IndexWriter(
                directory,
                new IndexWriterConfig()
                    .setCodec(TestUtil.alwaysKnnVectorsFormat(format))
                    .setMaxBufferedDocs(2 * SIZE)
                    .setRAMBufferSizeMB(256)
                    .setMergePolicy(NoMergePolicy.INSTANCE))) {
      for (float[] row : rows) {
        Document document = new Document();
        document.add(new KnnFloatVectorField(FIELD, row, VectorSimilarityFunction.EUCLIDEAN));
        writer.addDocument(document);
      }
      writer.commit();
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        assertEquals(1, reader.leaves().size());
        CodecReader leaf = (CodecReader) reader.leaves().get(0).reader();
        KnnVectorsReader vectors = leaf.getVectorReader();
        if (vectors instanceof PerFieldKnnVectorsFormat.FieldsReader perField) {
          vectors = perField.getFieldReader(FIELD);
        }
        return reading.apply(((SegmentViews) vectors).view(FIELD));
      }
    }
  }

  public void testSegmentsAreTheSame() throws IOException {
    float[][] rows = rows();
    Quantized expected = write(rows, new BuildStatistics());
    SimulatedDriver driver = driver();
    try (ExecutorRegistry.Installation installation =
        ExecutorRegistry.install(() -> open(driver, new QuietListener()))) {
      GpuExecutor executor = (GpuExecutor) installation.executor();
      BuildStatistics statistics = new BuildStatistics();
      Quantized actual = write(rows, statistics);
      assertArrayEquals(expected.centroids(), actual.centroids(), 0);
      assertArrayEquals(expected.codes(), actual.codes());
      assertEquals(1, statistics.snapshot().codebooksTrained());
      assertEquals(SIZE, statistics.snapshot().codesEncoded());
      assertEquals(1, counter(executor, "training", "codebooks"));
      assertEquals(SIZE, counter(executor, "training", "vectors_encoded"));
      assertTrue(counter(executor, "training", "codebook_nanos") > 0);
      assertEquals(0, counter(executor, "training_on_cpu", "failed"));
    }
  }

  /** Device and CPU find the same lists, bit by bit, whether the device fails or not. */
  public void testListsAreTheSame() throws IOException {
    float[][] rows = rows();
    for (float[] row : rows) {
      // segments whose scores hardly differ have no lists
      for (int d = 0; d < DIMENSION; d++) {
        row[d] /= 16;
      }
    }
    byte[] expected = writeLists(rows, new BuildStatistics());
    List<FaultyDriver> drivers = new ArrayList<>();
    try (ExecutorRegistry.Installation installation =
        ExecutorRegistry.install(
            () ->
                openWithout(
                    QUIET.withBatches(BATCHES),
                    () -> {
                      drivers.add(new FaultyDriver(driver()));
                      return drivers.get(drivers.size() - 1);
                    },
                    new QuietListener()))) {
      GpuExecutor executor = (GpuExecutor) installation.executor();
      assertArrayEquals(expected, writeLists(rows, new BuildStatistics()));
      // every vector once, and the sample in each iteration
      long assigned = counter(executor, "training", "vectors_assigned");
      assertTrue(assigned + " vectors", assigned > SIZE);
      assertEquals(0, counter(executor, "training_on_cpu", "failed"));
      drivers.get(0).fail(FaultyDriver.Operation.LAUNCH, 1, GpuException.Kind.FAILED);
      assertArrayEquals(expected, writeLists(rows, new BuildStatistics()));
      assertEquals(1, counter(executor, "training_on_cpu", "failed"));
    }
  }
}
