package dev.vamana.tools.gpu;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.codec.CodebookProvider;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Place;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.tools.figures.Figures.Subject;
import dev.vamana.tools.index.VectorCodec;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnByteVectorField;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FilterDirectory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.PrintStreamInfoStream;

/**
 * One segment of up to 100 million generated vectors of bytes, with a graph or inverted lists:
 * builds it on the device in one merge of segments that have vectors alone, and searches it. Both
 * indices are kept, so that a stage whose time is over goes on from there when it runs again. With
 * {@code --device=-1} the CPU builds and searches.
 */
final class LargeStage implements Stage {

  private static final double TARGET = 0.95;
  // recall below which something is wrong, such as an offset that overflows
  private static final double LEAST = 0.9;

  // queries whose exact neighbours are found
  private static final int JUDGED = 1_000;
  private static final int JUDGED_ON_CPU = 100;
  private static final int CALLERS = 3;
  private static final double WARM_UP_SECONDS = 2;

  // beside the codes, in rows of whole 16 bytes, where the graph is mapped
  private static final long BESIDE_CODES = 64L << 20;

  private static final ClusteredSet SET = ClusteredSet.LARGE;

  private final int size;
  private final String method;

  LargeStage(int size, boolean lists) {
    this.size = size;
    this.method = lists ? BenchStage.LISTS : "vamana";
  }

  /** The first vectors of the set. */
  private record Vectors(int size, ClusteredSet.Points points) implements SetIndex.Rows {

    @Override
    public Document document(int row) {
      Document document = new Document();
      document.add(new KnnByteVectorField(SetIndex.FIELD, points.bytes(row)));
      return document;
    }
  }

  private static Subject subject(int n) {
    return new Subject(SET.name(), n, SET.dimension());
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    int n = Math.min(size, context.options().limit());
    ClusteredSet.Points points = SET.new Points();
    String name = SET.name() + "-" + n + "-";
    VamanaParameters usual = context.parameters();
    VamanaParameters parameters =
        method.equals(BenchStage.LISTS) ? BuildStage.listParameters(usual) : usual;
    try (SetIndex index =
        SetIndex.open(
            context.index(name + method),
            folder -> {
              VamanaParameters none = usual.withThresholds(Integer.MAX_VALUE, Integer.MAX_VALUE);
              try (SetIndex vectors =
                  SetIndex.open(
                      context.index(name + "vectors"),
                      new Vectors(n, points),
                      new VamanaVectorsFormat(none, context.workers()),
                      SetIndex.ANY_SEGMENTS,
                      context.workers().threads())) {
                context.say("%,d vectors written in %.1f s", n, vectors.buildSeconds());
                BuildStage.Work work = () -> merge(context, folder, vectors, parameters);
                if (context.onDevice()) {
                  BuildStage.onDevice(context, true, work);
                } else {
                  work.run();
                }
              }
            })) {
      search(context, index, points);
    }
  }

  /** Merges all segments to one with a graph or lists, and records the time. */
  private void merge(Context context, Path folder, SetIndex vectors, VamanaParameters parameters)
      throws IOException {
    BuildStatistics statistics = new BuildStatistics();
    IndexWriterConfig config =
        new IndexWriterConfig()
            .setCodec(
                new VectorCodec(
                    new VamanaVectorsFormat(
                        parameters, context.workers(), CodebookProvider.NONE, statistics)))
            .setUseCompoundFile(false)
            .setMergePolicy(NoMergePolicy.INSTANCE)
            .setMergeScheduler(new SerialMergeScheduler())
            .setInfoStream(new Told(context.out()));
    long start = System.nanoTime();
    try (Directory directory = new Unforced(new MMapDirectory(folder));
        IndexWriter writer = new IndexWriter(directory, config)) {
      writer.addIndexes(
          vectors.reader().leaves().stream()
              .map(LeafReaderContext::reader)
              .toArray(CodecReader[]::new));
      writer.commit();
    }
    double seconds = (System.nanoTime() - start) * 1e-9;
    int threads = context.workers().threads();
    Subject of = subject(vectors.reader().maxDoc());
    context.built(of, method + " index", threads, seconds);
    context.built(of, method, threads, BuildStage.seconds(statistics));
  }

  private void search(Context context, SetIndex index, ClusteredSet.Points points)
      throws IOException, InterruptedException {
    int most = context.options().largestBatch();
    byte[][] queries = new byte[most][];
    Arrays.setAll(queries, q -> points.bytes(SET.size() + q));
    int judged = Math.min(most, context.onDevice() ? JUDGED : JUDGED_ON_CPU);
    LargeTruth truth = LargeTruth.of(context, index, Arrays.copyOf(queries, judged));
    QueryVector[] vectors = Arrays.stream(queries).map(QueryVector::of).toArray(QueryVector[]::new);
    List<Placement> usual =
        method.equals(BenchStage.LISTS)
            ? List.of(Placement.EXACT)
            : List.of(Placement.EXACT, Placement.MAPPED_GRAPH);
    for (Placement placement : Lane.placements(context.options(), usual)) {
      SegmentView view = index.view();
      MemoryLimit limit =
          placement == null || placement.place() == Place.DEVICE
              ? Gpu.MOST_MEMORY
              : MemoryLimit.bytes(view.codesRegion().length() * 2 + BESIDE_CODES);
      long start = System.nanoTime();
      try (Lane lane = Lane.open(context, method, placement, List.of(view), limit)) {
        context.say("%s: placed in %.1f s", lane.name(), (System.nanoTime() - start) * 1e-9);
        measure(context, index, truth, vectors, lane);
        lane.check();
      }
    }
  }

  /** Returns a walk, which re-ranks its whole beam where it compares codes. */
  private static WalkParameters walk(Lane lane, int beam) {
    WalkParameters walk = lane.walk(beam);
    return lane.quantized()
        ? WalkParameters.quantized(beam, beam).withParents(walk.parents())
        : walk;
  }

  /** Finds the narrowest beam that reaches the recall, and times it. */
  private static void measure(
      Context context, SetIndex index, LargeTruth truth, QueryVector[] queries, Lane lane)
      throws IOException, InterruptedException {
    QueryVector[] judged = Arrays.copyOf(queries, truth.queries().length);
    BatchRun sample = new BatchRun(lane.executor(), index.view(), judged, LargeTruth.K);
    ByteVectorValues values = index.leaf().getByteVectorValues(SetIndex.FIELD);
    BeamSweep sweep =
        BeamSweep.run(TARGET, beam -> truth.recall(sample.hits(walk(lane, beam)), values));
    int beam = sweep.recalls().lastKey();
    double recall = sweep.recalls().get(beam);
    context.say("recall@10 by beam: %s", sweep.recalls());
    if (recall < LEAST) {
      throw new IllegalStateException("the widest beam, " + beam + ", finds " + recall);
    }
    double seconds = context.options().seconds();
    BatchRun run = new BatchRun(lane.executor(), index.view(), queries, LargeTruth.K);
    int batch = lane.gpu() != null ? queries.length : judged.length;
    int callers = lane.gpu() != null ? CALLERS : 1;
    WalkParameters walk = walk(lane, beam);
    run.time(walk, batch, callers, Math.min(WARM_UP_SECONDS, 5 * seconds));
    for (int[] shape : new int[][] {{batch, callers}, {1, 1}}) {
      context.searched(
          subject(index.view().size()),
          lane.method(),
          lane.name(),
          shape[0],
          shape[1],
          recall,
          run.time(walk, shape[0], shape[1], seconds));
    }
  }

  /** Leaves to the system when files are written to the disk, whose speed is not measured. */
  private static final class Unforced extends FilterDirectory {
    Unforced(Directory directory) {
      super(directory);
    }

    @Override
    public void sync(Collection<String> names) {}

    @Override
    public void syncMetaData() {}
  }

  /** Tells what the format and the merge say. */
  private static final class Told extends PrintStreamInfoStream {
    Told(PrintStream out) {
      super(out);
    }

    @Override
    public boolean isEnabled(String component) {
      return component.equals("VAMANA") || component.equals("SM");
    }
  }
}
