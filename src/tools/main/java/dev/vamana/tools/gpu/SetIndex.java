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
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StoredField;
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
 * @param folder folder of the index
 * @param directory maps its files
 * @param reader open on it
 * @param buildSeconds duration of the build, also if an earlier process built it
 */
record SetIndex(Path folder, MMapDirectory directory, DirectoryReader reader, double buildSeconds)
    implements Closeable {

  static final String FIELD = "vector";
  static final String ROW = "row";
  private static final String BUILT = "built.txt";
  private static final double RAM_BUFFER_MB = 1_900;

  /**
   * Opens the index, and builds it first if needed.
   *
   * @param folder folder for this set, format and number of segments
   * @param segments number of segments of about equal size; with one segment, document numbers are
   *     rows
   * @param writers threads that add documents; more than one for formats with a sequential flush
   */
  static SetIndex open(
      Path folder, SuiteSet set, KnnVectorsFormat format, int segments, int writers)
      throws IOException {
    Path built = folder.resolve(BUILT);
    if (Files.notExists(built)) {
      deleteTree(folder);
      Files.createDirectories(folder);
      long start = System.nanoTime();
      write(folder, set, format, segments, writers);
      Files.writeString(built, String.valueOf((System.nanoTime() - start) * 1e-9));
    }
    MMapDirectory directory = new MMapDirectory(folder);
    DirectoryReader reader = AcceleratedReaders.wrap(DirectoryReader.open(directory));
    if (reader.leaves().size() != segments || reader.maxDoc() != set.vectors().base().size()) {
      throw new IllegalStateException(
          folder + " has " + reader.leaves().size() + " segments of " + reader.maxDoc());
    }
    return new SetIndex(folder, directory, reader, Double.parseDouble(Files.readString(built)));
  }

  /** Returns a searcher on the calling thread. */
  IndexSearcher searcher() {
    return new IndexSearcher(reader);
  }

  /** Returns the view of the only segment. */
  SegmentView view() {
    return view(reader.leaves().get(0).reader());
  }

  /** Returns the views of all segments. */
  List<SegmentView> views() {
    return reader.leaves().stream().map(leaf -> view(leaf.reader())).toList();
  }

  /** Returns the view of a segment. */
  static SegmentView view(LeafReader leaf) {
    return SegmentViews.of(leaf, FIELD);
  }

  static void write(Path folder, SuiteSet set, KnnVectorsFormat format, int segments, int writers)
      throws IOException {
    IndexWriterConfig config =
        new IndexWriterConfig()
            .setCodec(new VectorCodec(format))
            .setUseCompoundFile(false)
            .setRAMBufferSizeMB(RAM_BUFFER_MB)
            .setMergePolicy(segments == 1 ? new TieredMergePolicy() : NoMergePolicy.INSTANCE)
            .setMergeScheduler(new SerialMergeScheduler());
    float[][] rows = set.vectors().base().rows();
    try (MMapDirectory directory = new MMapDirectory(folder);
        IndexWriter writer = new IndexWriter(directory, config)) {
      if (writers > 1) {
        addConcurrently(writer, set, writers);
      } else {
        for (int row = 0; row < rows.length; row++) {
          writer.addDocument(document(set, row));
          if (segments > 1
              && (row + 1L) * segments / rows.length > (long) row * segments / rows.length) {
            writer.flush();
          }
        }
      }
      if (segments == 1) {
        writer.forceMerge(1);
      }
      writer.commit();
    }
  }

  private static Document document(SuiteSet set, int row) {
    Document document = new Document();
    document.add(
        new KnnFloatVectorField(
            FIELD, set.vectors().base().rows()[row], set.vectors().similarity()));
    document.add(new StoredField(ROW, row));
    return document;
  }

  private static void addConcurrently(IndexWriter writer, SuiteSet set, int threads)
      throws IOException {
    AtomicInteger next = new AtomicInteger();
    try {
      Callers.together(
          threads,
          id -> {
            for (int row; (row = next.getAndIncrement()) < set.vectors().base().size(); ) {
              writer.addDocument(document(set, row));
            }
            return null;
          });
    } catch (InterruptedException e) {
      throw new IOException("adding documents was interrupted", e);
    }
  }

  /**
   * Returns the row of each document, for indexes whose documents are not in the order of the rows.
   */
  int[] rows() throws IOException {
    int[] rows = new int[reader.maxDoc()];
    for (int doc = 0; doc < rows.length; doc++) {
      rows[doc] = reader.storedFields().document(doc).getField(ROW).numericValue().intValue();
    }
    return rows;
  }

  /** Removes a folder, if it is there. */
  static void deleteTree(Path folder) throws IOException {
    if (Files.exists(folder)) {
      IOUtils.rm(folder);
    }
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(reader, directory);
  }
}
