package dev.vamana.elasticsearch.residency;

import dev.vamana.search.DevicePresence;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SegmentReader;

/**
 * The fields in our format of the segments of a reader, beside the executor that searches them. To
 * be used as long as the reader is open.
 */
final class ShardSegments {

  private final List<Segment> segments = new ArrayList<>();
  private final SearchExecutor executor;

  private record Segment(String name, String field, SegmentView view) {}

  /**
   * Looks through a reader.
   *
   * @param reader may be wrapped; fields that it hides are left out
   */
  ShardSegments(IndexReader reader) {
    this(reader, ExecutorRegistry.current());
  }

  /** With an executor of one's own, or null for none. */
  ShardSegments(IndexReader reader, SearchExecutor executor) {
    this.executor = executor;
    for (LeafReaderContext context : reader.leaves()) {
      LeafReader leaf = context.reader();
      for (FieldInfo field : leaf.getFieldInfos()) {
        SegmentView view = field.hasVectorValues() ? SegmentViews.of(leaf, field.name) : null;
        if (view != null) {
          segments.add(new Segment(segmentName(leaf), field.name, view));
        }
      }
    }
  }

  private static String segmentName(LeafReader leaf) {
    LeafReader inner = FilterLeafReader.unwrap(leaf);
    return inner instanceof SegmentReader segment ? segment.getSegmentName() : inner.toString();
  }

  /** How many there are. */
  int count() {
    return segments.size();
  }

  /** Asks for all to be brought to the device. */
  void warm() {
    forEach(SearchExecutor::warm);
  }

  /** Says for all whether they are to be kept on the device. */
  void keep(boolean kept) {
    forEach((where, view) -> where.keep(view, kept));
  }

  private void forEach(BiConsumer<SearchExecutor, SegmentView> action) {
    if (executor != null) {
      segments.forEach(segment -> action.accept(executor, segment.view));
    }
  }

  /** Takes all from the device; returns the bytes that this frees. */
  long evict() {
    return executor == null
        ? 0
        : segments.stream().mapToLong(segment -> executor.evict(segment.view)).sum();
  }

  /** Whether any is on its way to the device. */
  boolean waiting() {
    return segments.stream()
        .anyMatch(segment -> presence(segment.view).state() == DevicePresence.State.WAITING);
  }

  /** Where each is now. */
  List<SegmentReport> reports() {
    return segments.stream()
        .map(
            segment ->
                new SegmentReport(
                    segment.name, segment.field, segment.view.size(), presence(segment.view)))
        .toList();
  }

  private DevicePresence presence(SegmentView view) {
    return executor == null ? DevicePresence.NO_DEVICE : executor.presence(view);
  }
}
