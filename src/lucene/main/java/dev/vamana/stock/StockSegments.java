package dev.vamana.stock;

import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentSearch;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FilterCodecReader;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.SegmentReader;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnCollector;

/**
 * The open segments of one index whose stock HNSW fields an executor may search. A segment's fields
 * have the same views as long as its files are open, however often the index is refreshed.
 * Thread-safe.
 */
public final class StockSegments {

  private final Map<IndexReader.CacheKey, Map<String, SegmentView>> open =
      new ConcurrentHashMap<>();

  /** Tells the executor of a segment, unless there is none or this has happened. */
  public void opened(LeafReader reader) {
    if (ExecutorRegistry.current() != null) {
      views(reader);
    }
  }

  /** Returns the view of a field; null if only its own format searches it. */
  public SegmentView view(LeafReader reader, String field) {
    SegmentView view = views(reader).get(field);
    // a field of an index that was converted may be in this project's own format
    return view == null ? SegmentViews.of(reader, field) : view;
  }

  /**
   * Searches a segment by the executor or by its own format.
   *
   * @param reader the segment's reader, which also is the one that searches by the format
   */
  public void search(
      LeafReader reader,
      String field,
      QueryVector query,
      KnnCollector collector,
      AcceptDocs acceptDocs)
      throws IOException {
    SegmentSearch.FormatSearch own =
        hits -> {
          if (query.floats() != null) {
            reader.searchNearestVectors(field, query.floats(), hits, acceptDocs);
          } else {
            reader.searchNearestVectors(field, query.bytes(), hits, acceptDocs);
          }
        };
    SegmentView view = ExecutorRegistry.current() == null ? null : views(reader).get(field);
    if (view == null
        || query.encoding() != view.encoding()
        || query.dimension() != view.dimension()) {
      // the format has the message for a query that does not fit
      own.run(collector);
    } else {
      SegmentSearch.search(view, query, collector, acceptDocs, own);
    }
  }

  private Map<String, SegmentView> views(LeafReader reader) {
    IndexReader.CacheHelper core = reader.getCoreCacheHelper();
    if (core == null) {
      return Map.of();
    }
    Map<String, SegmentView> views = open.get(core.getKey());
    if (views != null) {
      return views;
    }
    Map<String, SegmentView> made = find(reader);
    views = open.putIfAbsent(core.getKey(), made);
    if (views != null) {
      return views;
    }
    core.addClosedListener(this::closed);
    made.values().forEach(ExecutorRegistry::opened);
    return made;
  }

  /** The files are closed before this is called, so executors never read them in place. */
  private void closed(IndexReader.CacheKey core) {
    Map<String, SegmentView> views = open.remove(core);
    if (views != null) {
      views.values().forEach(ExecutorRegistry::closing);
    }
  }

  private Map<String, SegmentView> find(LeafReader reader) {
    Map<String, SegmentView> views = new HashMap<>();
    if (FilterLeafReader.unwrap(reader) instanceof CodecReader codec
        && FilterCodecReader.unwrap(codec) instanceof SegmentReader segment) {
      for (FieldInfo info : segment.getFieldInfos()) {
        if (info.hasVectorValues()) {
          try {
            SegmentView view =
                StockField.open(
                    segment.getSegmentName(),
                    segment.directory(),
                    segment.maxDoc(),
                    info,
                    segment.getVectorReader());
            if (view != null) {
              views.put(info.name, view);
            }
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        }
      }
    }
    return views;
  }
}
