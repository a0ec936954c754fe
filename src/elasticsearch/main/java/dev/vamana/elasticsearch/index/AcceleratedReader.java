package dev.vamana.elasticsearch.index;

import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import dev.vamana.stock.StockSegments;
import java.io.IOException;
import org.apache.lucene.codecs.StoredFieldsReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FilterDirectoryReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnCollector;
import org.elasticsearch.common.lucene.index.SequentialStoredFieldsLeafReader;

/**
 * A shard's reader whose stock vector fields are searched by the node's executor. Does what {@link
 * dev.vamana.stock.AcceleratedReaders} does, and passes on the sequential stored fields that the
 * server's own leaves have. {@link AcceleratedEngine} makes one for each reader of the shard.
 */
final class AcceleratedReader extends FilterDirectoryReader {
  private final StockSegments segments;

  AcceleratedReader(DirectoryReader in, StockSegments segments) throws IOException {
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
    return new AcceleratedReader(reader, segments);
  }

  @Override
  public CacheHelper getReaderCacheHelper() {
    return in.getReaderCacheHelper();
  }

  private static final class Leaf extends SequentialStoredFieldsLeafReader implements SegmentViews {
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

    @Override
    protected StoredFieldsReader doGetSequentialStoredFieldsReader(StoredFieldsReader reader) {
      return reader;
    }
  }
}
