package dev.vamana.cuda;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.Walks;
import dev.vamana.search.WorkItem;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.apache.lucene.codecs.CodecUtil;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.store.NIOFSDirectory;

/** Tests that an upload notices damaged files, and what follows. */
public class DamagedSegmentTests extends GpuTestCase {

  private static final int SIZE = 600;
  private static final int DIMENSION = 24;

  /** Remembers what an operator is told. */
  private static final class Told extends QuietListener {
    final List<String> damaged = Collections.synchronizedList(new ArrayList<>());
    final List<FallbackReason> fallbacks = Collections.synchronizedList(new ArrayList<>());
    final List<Throwable> failures = new ArrayList<>();

    @Override
    public synchronized void damaged(SegmentView segment, CorruptIndexException cause) {
      damaged.add(segment.name() + ": " + cause.getMessage());
    }

    @Override
    public synchronized void fallback(FallbackReason reason, String detail) {
      fallbacks.add(reason);
    }

    @Override
    public synchronized void uploadFailed(String segment, Throwable cause) {
      failures.add(cause);
    }
  }

  /** Writes two segments. */
  private static Path write(boolean compound) throws IOException {
    Path folder = createTempDir();
    VamanaParameters parameters =
        VamanaParameters.DEFAULT.withGraph(16, 32, 1.2f).withThresholds(0, 0).withSubspaces(4);
    try (Directory directory = new MMapDirectory(folder);
        IndexWriter writer =
            new IndexWriter(
                directory,
                DeviceSegment.config(new VamanaVectorsFormat(parameters, Workers.callingThread()))
                    .setUseCompoundFile(compound))) {
      for (int segment = 0; segment < 2; segment++) {
        for (int id = 0; id < SIZE; id++) {
          writer.addDocument(
              DeviceSegment.document(id, vector(), VectorSimilarityFunction.EUCLIDEAN));
        }
        writer.flush();
      }
    }
    return folder;
  }

  private static QueryVector vector() {
    float[] vector = new float[DIMENSION];
    for (int d = 0; d < DIMENSION; d++) {
      vector[d] = random().nextFloat();
    }
    return QueryVector.of(vector);
  }

  /**
   * Flips a bit in the middle half of the first segment's file, which holds no header; not of a
   * float's exponent, since Lucene asserts that distances are finite.
   */
  private static String flip(Path folder, String extension) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      Path file =
          files
              .filter(path -> path.getFileName().toString().startsWith("_0"))
              .filter(path -> path.getFileName().toString().endsWith(extension))
              .findFirst()
              .orElseThrow();
      byte[] bytes = Files.readAllBytes(file);
      int start = 0;
      int length = bytes.length;
      if (extension.equals(".cfs")) {
        long[] part = part(folder, random().nextBoolean() ? ".vec" : ".vex");
        start = (int) part[0];
        length = (int) part[1];
      }
      int at = (start + length / 4 + random().nextInt(length / 2)) & -Float.BYTES;
      bytes[at] ^= (byte) (1 << random().nextInt(8));
      Files.write(file, bytes);
      return file.getFileName().toString();
    }
  }

  /** Offset and length of a part of the first segment's compound file. */
  private static long[] part(Path folder, String extension) throws IOException {
    try (Directory directory = new NIOFSDirectory(folder);
        IndexInput entries = directory.openInput("_0.cfe", IOContext.READONCE)) {
      entries.seek(CodecUtil.indexHeaderLength("Lucene90CompoundEntries", ""));
      for (int left = entries.readVInt(); left > 0; left--) {
        boolean found = entries.readString().endsWith(extension);
        long[] part = {entries.readLong(), entries.readLong()};
        if (found) {
          return part;
        }
      }
    }
    throw new AssertionError("no " + extension);
  }

  private static List<SegmentView> views(DirectoryReader reader) {
    List<SegmentView> views = new ArrayList<>();
    for (LeafReaderContext leaf : reader.leaves()) {
      views.add(DeviceSegment.view(leaf.reader()));
    }
    return views;
  }

  private static WorkItem item(SegmentView view) {
    return Walks.item(view, vector(), 5, WalkParameters.exact(24));
  }

  private static void assertRefused(Placement placement, boolean compound, String extension)
      throws Exception {
    Path folder = write(compound);
    String file = flip(folder, extension);
    Told told = new Told();
    SimulatedDriver driver = driver();
    PlanMode plan = random().nextBoolean() ? PlanMode.GRAPH : PlanMode.AUTO;
    boolean mapped = placement == Placement.MAPPED_GRAPH || random().nextBoolean();
    try (ExecutorRegistry.Installation installation =
            ExecutorRegistry.install(
                () ->
                    GpuExecutor.open(
                        () -> driver,
                        ResidencyOptions.defaults(1L << 30)
                            .withPlacement(placement)
                            .withLimits(MemoryLimit.percent(60), MemoryLimit.percent(60)),
                        QUIET.withBatches(BATCHES).withPlan(plan),
                        told));
        Directory directory = mapped ? new MMapDirectory(folder) : new NIOFSDirectory(folder);
        DirectoryReader reader = DirectoryReader.open(directory)) {
      GpuExecutor executor = (GpuExecutor) installation.executor();
      List<SegmentView> views = views(reader);
      await(() -> executor.statistics().counter("residency", "segments_waiting") == 0);
      DevicePresence first = executor.presence(views.get(0));
      assertEquals(placement + " " + file, DevicePresence.State.REFUSED, first.state());
      assertEquals("damaged", first.reason());
      assertEquals(DevicePresence.State.RESIDENT, executor.presence(views.get(1)).state());
      // neither a search nor a warm-up brings it there
      for (int i = 0; i < 2; i++) {
        executor.warm(views.get(0));
        // a damaged file is noticed, so no search reads it any more
        List<WorkItem> items = List.of(item(views.get(0)), item(views.get(1)));
        expectThrows(CorruptIndexException.class, () -> executor.search(items));
      }
      await(() -> executor.statistics().counter("residency", "segments_waiting") == 0);
      assertEquals(first, executor.presence(views.get(0)));
      assertEquals(2, executor.statistics().counter("items_on_cpu", "damaged"));
      assertEquals(1, executor.statistics().counter("residency", "upload_failures"));
      // told after the segment has left the queue
      await(() -> told.damaged.isEmpty() == false);
      assertEquals(told.damaged.toString(), 1, told.damaged.size());
      assertTrue(told.damaged.toString(), told.damaged.get(0).contains(file));
      assertEquals(List.of(), told.failures);
      assertEquals(1, told.fallbacks.stream().filter(r -> r == FallbackReason.DAMAGED).count());
      assertReadersRefuse(reader);
      List<String> damaged = views.get(0).fileChecks().damaged();
      assertEquals(damaged.toString(), 1, damaged.size());
      assertTrue(damaged.toString(), compound || damaged.get(0).equals(file));
      assertEquals(List.of(), views.get(1).fileChecks().damaged());
    } catch (GpuException e) {
      throw new AssertionError(e);
    }
  }

  /** Whoever reads the first segment learns of the damage; the second is intact. */
  private static void assertReadersRefuse(DirectoryReader reader) throws IOException {
    LeafReader first = reader.leaves().get(0).reader();
    float[] query = vector().floats();
    AcceptDocs all = AcceptDocs.fromLiveDocs(null, first.maxDoc());
    for (LeafReaderContext leaf : reader.leaves()) {
      LeafReader segment = leaf.reader();
      TopKnnCollector collector = new TopKnnCollector(5, Integer.MAX_VALUE);
      if (segment == first) {
        expectThrows(
            CorruptIndexException.class,
            () -> segment.searchNearestVectors(DeviceSegment.FIELD, query, collector, all));
        expectThrows(
            CorruptIndexException.class, () -> segment.getFloatVectorValues(DeviceSegment.FIELD));
      } else {
        segment.searchNearestVectors(DeviceSegment.FIELD, query, collector, all);
        assertEquals(5, collector.topDocs().scoreDocs.length);
        assertEquals(SIZE, segment.getFloatVectorValues(DeviceSegment.FIELD).size());
      }
    }
  }

  public void testFlippedVectors() throws Exception {
    assertRefused(Placement.EXACT, false, ".vec");
    assertRefused(Placement.EXACT_FLOAT16, false, ".vec");
    assertRefused(Placement.EXACT_INT8, false, ".vec");
  }

  public void testFlippedGraph() throws Exception {
    assertRefused(Placement.EXACT, false, ".vex");
    assertRefused(Placement.IN_MEMORY, false, ".vex");
    assertRefused(Placement.MAPPED_GRAPH, false, ".vex");
  }

  public void testFlippedCodes() throws Exception {
    assertRefused(Placement.IN_MEMORY, false, ".veq");
    assertRefused(Placement.HOST_FETCH, false, ".veq");
  }

  public void testFlippedCompoundFile() throws Exception {
    assertRefused(Placement.EXACT, true, ".cfs");
    assertRefused(Placement.EXACT_INT8, true, ".cfs");
  }
}
