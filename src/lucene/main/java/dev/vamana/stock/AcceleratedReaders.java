package dev.vamana.stock;

import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import java.io.IOException;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FilterDirectoryReader;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnCollector;

/**
 * Wraps readers of indices in Lucene's HNSW formats, so that the installed executor searches their
 * vectors.
 *
 * <p>The index is not changed. The segment's own search answers, unchanged,
 *
 * <ul>
 *   <li>without an executor, and while the executor has no device or not the segment on it;
 *   <li>for fields without an HNSW graph, with rows that are wider than the device takes (128
 *       neighbours, in Lucene twice {@code maxConn}), or with scores that do not follow from the
 *       similarity function, such as bits;
 *   <li>for collectors that want other hits than the k best: similarity thresholds, one hit for
 *       each parent document;
 *   <li>when the executor leaves a search to the CPU. Hits of one segment then have the scores of
 *       its format.
 * </ul>
 *
 * <p>Hits of the executor have the exact scores of the raw vectors, also in quantized formats.
 */
public final class AcceleratedReaders {

  private AcceleratedReaders() {}

  /**
   * Wraps a reader. Readers that {@link DirectoryReader#openIfChanged} makes of the result are
   * wrapped, too, and search segments of both without another upload.
   *
   * @param reader closed when the result is closed; install the executor before it is opened
   */
  public static DirectoryReader wrap(DirectoryReader reader) throws IOException {
    return new Accelerated(reader, new StockSegments());
  }

  private static final class Accelerated extends FilterDirectoryReader {
    private final StockSegments segments;

    Accelerated(DirectoryReader in, StockSegments segments) throws IOException {
      super(
          in,
          new SubReaderWrapper() {
            @Override
            public LeafReader wrap(LeafReader reader) {
              segments.opened(reader);
              return new Leaf(reader, segments);
            }
          });
      this.segments = segments;
    }

    @Override
    protected DirectoryReader doWrapDirectoryReader(DirectoryReader reader) throws IOException {
      return new Accelerated(reader, segments);
    }

    @Override
    public CacheHelper getReaderCacheHelper() {
      return in.getReaderCacheHelper();
    }
  }

  private static final class Leaf extends FilterLeafReader implements SegmentViews {
    private final StockSegments segments;

    Leaf(LeafReader in, StockSegments segments) {
      super(in);
      this.segments = segments;
    }

    @Override
    public SegmentView view(String field) {
      return segments.view(in, field);
    }

    @Override
    public void searchNearestVectors(
        String field, float[] target, KnnCollector collector, AcceptDocs acceptDocs)
        throws IOException {
      segments.search(in, field, QueryVector.of(target), collector, acceptDocs);
    }

    @Override
    public void searchNearestVectors(
        String field, byte[] target, KnnCollector collector, AcceptDocs acceptDocs)
        throws IOException {
      segments.search(in, field, QueryVector.of(target), collector, acceptDocs);
    }

    @Override
    public CacheHelper getCoreCacheHelper() {
      return in.getCoreCacheHelper();
    }

    @Override
    public CacheHelper getReaderCacheHelper() {
      return in.getReaderCacheHelper();
    }
  }
}
