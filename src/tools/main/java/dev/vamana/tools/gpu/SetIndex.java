package dev.vamana.tools.gpu;

import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import dev.vamana.stock.AcceleratedReaders;
import dev.vamana.tools.callers.Callers;
import dev.vamana.tools.index.VectorCodec;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.TieredMergePolicy;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.IOUtils;

/**
 * An index of one set, kept on disk between stages.
 *
 * @param directory maps its files
 * @param reader open on it
 * @param buildSeconds duration of the build, also if an earlier process built it
 */
record SetIndex(MMapDirectory directory, DirectoryReader reader, double buildSeconds)
    implements Closeable {

  static final String FIELD = "vector";

  /** In place of a number of segments: as many as there are when all documents are added. */
  static final int ANY_SEGMENTS = 0;

  /** Lucene's own limit of 16 GiB would cut the file of a large graph into pieces. */
  private static final long PIECE = 1L << 40;

  private static final String BUILT = "built.txt";
  private static final double RAM_BUFFER_MB = 1_900;

  /** The documents of an index. */
  interface Rows {

    /** Returns the number of documents. */
    int size();

    /** Makes a document; called by several threads. */
    Document document(int row);
  }

  /** Fills a folder with an index. */
  interface Builder {

    /** Builds the index in an empty folder. */
    void build(Path folder) throws IOException;
  }

  /**
   * Opens the index of a set, and builds it first if needed.
   *
   * @param folder folder for this set, format and number of segments
   * @param segments number of segments of about equal size, or {@link #ANY_SEGMENTS}; with one
   *     segment and one writer, document numbers are rows
   * @param writers threads that add documents; more than one for formats with a sequential flush
   */
  static SetIndex open(Path folder, Rows rows, KnnVectorsFormat format, int segments, int writers)
      throws IOException {
    SetIndex index = open(folder, into -> write(into, rows, format, segments, writers));
    int found = index.reader.leaves().size();
    if ((segments != ANY_SEGMENTS && found != segments) || index.reader.maxDoc() != rows.size()) {
      throw new IllegalStateException(
          folder + " has " + found + " segments of " + index.reader.maxDoc());
    }
    return index;
  }

  /** Opens the index in a folder, and has it built first if needed. */
  static SetIndex open(Path folder, Builder builder) throws IOException {
    Path built = folder.resolve(BUILT);
    if (Files.notExists(built)) {
      emptied(folder);
      long start = System.nanoTime();
      builder.build(folder);
      Files.writeString(built, String.valueOf((System.nanoTime() - start) * 1e-9));
    }
    MMapDirectory directory = new MMapDirectory(folder, PIECE);
    return new SetIndex(
        directory,
        AcceleratedReaders.wrap(DirectoryReader.open(directory)),
        Double.parseDouble(Files.readString(built)));
  }

  /** Returns a searcher on the calling thread. */
  IndexSearcher searcher() {
    return new IndexSearcher(reader);
  }

  /** Returns the reader of the only segment. */
  LeafReader leaf() {
    return reader.leaves().get(0).reader();
  }

  /** Returns the view of the only segment. */
  SegmentView view() {
    return views().get(0);
  }

  /** Returns the views of all segments. */
  List<SegmentView> views() {
    return reader.leaves().stream().map(leaf -> view(leaf.reader())).toList();
  }

  private static SegmentView view(LeafReader leaf) {
    return SegmentViews.of(leaf, FIELD);
  }

  /** Writes an index of a set, as {@link #open(Path, Rows, KnnVectorsFormat, int, int)} does. */
  static void write(Path folder, Rows rows, KnnVectorsFormat format, int segments, int writers)
      throws IOException {
    IndexWriterConfig config =
        new IndexWriterConfig()
            .setCodec(new VectorCodec(format))
            .setUseCompoundFile(false)
            .setRAMBufferSizeMB(RAM_BUFFER_MB)
            .setMergePolicy(segments == 1 ? new TieredMergePolicy() : NoMergePolicy.INSTANCE)
            .setMergeScheduler(new SerialMergeScheduler());
    int size = rows.size();
    AtomicInteger next = new AtomicInteger();
    try (MMapDirectory directory = new MMapDirectory(folder);
        IndexWriter writer = new IndexWriter(directory, config)) {
      Callers.together(
          writers,
          id -> {
            for (int row; (row = next.getAndIncrement()) < size; ) {
              writer.addDocument(rows.document(row));
              if (segments > 1 && (row + 1L) * segments / size > (long) row * segments / size) {
                writer.flush();
              }
            }
            return null;
          });
      if (segments == 1) {
        writer.forceMerge(1);
      }
      writer.commit();
    }
  }

  /** Returns a folder without content, made if it is not there. */
  static Path emptied(Path folder) throws IOException {
    if (Files.exists(folder)) {
      IOUtils.rm(folder);
    }
    return Files.createDirectories(folder);
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(reader, directory);
  }
}
