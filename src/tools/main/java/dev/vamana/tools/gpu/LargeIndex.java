package dev.vamana.tools.gpu;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.codec.CodebookProvider;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.search.SegmentView;
import dev.vamana.tools.index.VectorCodec;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FilterDirectory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.InfoStream;

/**
 * An index with one segment of many vectors of bytes, written by one merge and kept between stages.
 *
 * @param directory maps each file in one piece
 * @param reader open on it
 */
record LargeIndex(MMapDirectory directory, DirectoryReader reader) implements Closeable {

  /** Lucene's own limit of 16 GiB would cut the file of a large graph into pieces. */
  private static final long PIECE = 1L << 40;

  private static final String BUILT = "built.txt";

  /**
   * Durations of a build.
   *
   * @param seconds from the vectors in a mapped file to the finished index in files, which the
   *     system may not have written to the disk yet
   * @param graph of them for the graph and its file
   * @param codes of them for the codebook, the codes and their file
   * @param lists of them for inverted lists and their file
   */
  record Built(double seconds, double graph, double codes, double lists) {}

  /** Whether a folder has a finished index. */
  static boolean isThere(Path folder) {
    return Files.exists(folder.resolve(BUILT));
  }

  /** Builds an index, with the installed executor if there is one. */
  static Built build(
      Stage.Context context, Path folder, LargeVectors vectors, VamanaParameters parameters)
      throws IOException {
    SetIndex.deleteTree(folder);
    Files.createDirectories(folder);
    BuildStatistics statistics = new BuildStatistics();
    VamanaVectorsFormat format =
        new VamanaVectorsFormat(parameters, context.workers(), CodebookProvider.NONE, statistics);
    IndexWriterConfig config =
        new IndexWriterConfig()
            .setCodec(new VectorCodec(format))
            .setUseCompoundFile(false)
            .setMergePolicy(NoMergePolicy.INSTANCE)
            .setMergeScheduler(new SerialMergeScheduler())
            .setInfoStream(new Told(context));
    long start = System.nanoTime();
    try (Directory directory = new Unforced(new MMapDirectory(folder, PIECE));
        IndexWriter writer = new IndexWriter(directory, config)) {
      writer.addIndexes(
          new CodecReader[] {new LargeReader(vectors::values, VectorSimilarityFunction.EUCLIDEAN)});
      writer.commit();
    }
    BuildStatistics.Snapshot made = statistics.snapshot();
    if (made.graphs() + made.lists() != 1) {
      throw new IllegalStateException(
          made.graphs() + " graphs and " + made.lists() + " times lists instead of one of either");
    }
    Built built =
        new Built(
            (System.nanoTime() - start) * 1e-9,
            made.graphNanos() * 1e-9,
            made.quantizationNanos() * 1e-9,
            made.listNanos() * 1e-9);
    Files.writeString(folder.resolve(BUILT), String.valueOf(built.seconds()));
    return built;
  }

  /** Opens an index that was built. */
  static LargeIndex open(Path folder, int size) throws IOException {
    MMapDirectory directory = new MMapDirectory(folder, PIECE);
    DirectoryReader reader = DirectoryReader.open(directory);
    if (reader.leaves().size() != 1 || reader.maxDoc() != size) {
      throw new IllegalStateException(
          folder + " has " + reader.leaves().size() + " segments of " + reader.maxDoc());
    }
    return new LargeIndex(directory, reader);
  }

  /** Returns the view of the segment. */
  SegmentView view() {
    return SetIndex.view(reader.leaves().get(0).reader());
  }

  /** Returns a view of the vectors for one thread. */
  ByteVectorValues values() {
    try {
      return reader.leaves().get(0).reader().getByteVectorValues(SetIndex.FIELD);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the bytes of the files by extension. */
  Map<String, Long> bytes() throws IOException {
    Map<String, Long> bytes = new TreeMap<>();
    for (String file : directory.listAll()) {
      String extension = file.substring(file.lastIndexOf('.') + 1);
      bytes.merge(extension, directory.fileLength(file), Long::sum);
    }
    return bytes;
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(reader, directory);
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
  private static final class Told extends InfoStream {
    private final Stage.Context context;
    private final long start = System.nanoTime();

    Told(Stage.Context context) {
      this.context = context;
    }

    @Override
    public void message(String component, String message) {
      context.say("%.1f s: %s", (System.nanoTime() - start) * 1e-9, message);
    }

    @Override
    public boolean isEnabled(String component) {
      return component.equals("VAMANA") || component.equals("SM");
    }

    @Override
    public void close() {}
  }
}
