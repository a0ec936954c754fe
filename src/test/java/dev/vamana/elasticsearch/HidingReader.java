package dev.vamana.elasticsearch;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.lucene.codecs.StoredFieldsReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FilterDirectoryReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;
import org.elasticsearch.common.lucene.index.SequentialStoredFieldsLeafReader;

/** Shows documents with {@code "hidden": "yes"} as deleted. */
final class HidingReader extends FilterDirectoryReader {
  private static final Term HIDDEN = new Term("hidden", "yes");

  HidingReader(DirectoryReader reader) throws IOException {
    super(
        reader,
        new SubReaderWrapper() {
          @Override
          public LeafReader wrap(LeafReader leaf) {
            try {
              return new Leaf(leaf);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          }
        });
  }

  @Override
  protected DirectoryReader doWrapDirectoryReader(DirectoryReader reader) throws IOException {
    return new HidingReader(reader);
  }

  @Override
  public CacheHelper getReaderCacheHelper() {
    return in.getReaderCacheHelper();
  }

  private static final class Leaf extends SequentialStoredFieldsLeafReader {
    private final FixedBitSet visible;

    private Leaf(LeafReader leaf) throws IOException {
      super(leaf);
      visible = new FixedBitSet(leaf.maxDoc());
      Bits live = leaf.getLiveDocs();
      for (int doc = 0; doc < leaf.maxDoc(); doc++) {
        if (live == null || live.get(doc)) {
          visible.set(doc);
        }
      }
      PostingsEnum postings = leaf.postings(HIDDEN);
      while (postings != null && postings.nextDoc() != DocIdSetIterator.NO_MORE_DOCS) {
        visible.clear(postings.docID());
      }
    }

    @Override
    public Bits getLiveDocs() {
      return visible;
    }

    @Override
    public int numDocs() {
      return visible.cardinality();
    }

    @Override
    protected StoredFieldsReader doGetSequentialStoredFieldsReader(StoredFieldsReader reader) {
      return reader;
    }

    @Override
    public CacheHelper getCoreCacheHelper() {
      return in.getCoreCacheHelper();
    }

    @Override
    public CacheHelper getReaderCacheHelper() {
      return null;
    }
  }
}
