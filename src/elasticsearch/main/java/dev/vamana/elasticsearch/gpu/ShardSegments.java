package dev.vamana.elasticsearch.gpu;

import dev.vamana.elasticsearch.monitor.segments.SegmentReport;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import dev.vamana.vectors.FileCheck;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SegmentReader;

/**
 * The vector fields in this plugin's format and accelerated ones in the segments of a reader,
 * together with the executor that searches them. Valid as long as the reader is open.
 */
final class ShardSegments {

  private final List<Segment> segments = new ArrayList<>();
  private final SearchExecutor executor;

  private record Segment(String name, String field, SegmentView view) {}

  /**
   * Finds the fields in a reader.
   *
   * @param reader the reader, which may be wrapped; fields that the wrapper hides are left out
   */
  ShardSegments(IndexReader reader) {
    this(reader, ExecutorRegistry.current());
  }

  /** Uses the given executor, or none if it is null. */
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

  /** Number of fields. */
  int count() {
    return segments.size();
  }

  /** Asks the executor to upload all fields to the device. */
  void warm() {
    forEach(SearchExecutor::warm);
  }

  /** Sets for all fields whether the executor keeps them on the device. */
  void keep(boolean kept) {
    forEach((where, view) -> where.keep(view, kept));
  }

  private void forEach(BiConsumer<SearchExecutor, SegmentView> action) {
    if (executor != null) {
      segments.forEach(segment -> action.accept(executor, segment.view));
    }
  }

  /** Removes all fields from the device; returns the freed bytes. */
  long evict() {
    return executor == null
        ? 0
        : segments.stream().mapToLong(segment -> executor.evict(segment.view)).sum();
  }

  /** Whether a field is being uploaded to the device. */
  boolean waiting() {
    return segments.stream()
        .anyMatch(segment -> presence(segment.view).state() == DevicePresence.State.WAITING);
  }

  /**
   * Compares the files of all fields with their checksums. Files that an upload or an earlier call
   * has compared are not read again.
   *
   * @param abort throws when the work should stop; called every few megabytes
   * @param found gets the field and the damage of each damaged file
   */
  void check(Runnable abort, BiConsumer<String, CorruptIndexException> found) throws IOException {
    for (Segment segment : segments) {
      for (FileCheck file : segment.view.fileChecks().all()) {
        abort.run();
        try {
          file.check(abort);
        } catch (CorruptIndexException e) {
          found.accept(segment.view.name(), e);
        }
      }
    }
  }

  /** Whether a file is known to be damaged. */
  boolean damaged() {
    return segments.stream().anyMatch(segment -> !segment.view.fileChecks().damaged().isEmpty());
  }

  /** Reports on each field. */
  List<SegmentReport> reports() {
    return segments.stream()
        .map(
            segment ->
                new SegmentReport(
                    segment.name,
                    segment.field,
                    segment.view.size(),
                    presence(segment.view),
                    segment.view.fileChecks().damaged()))
        .toList();
  }

  private DevicePresence presence(SegmentView view) {
    return executor == null ? DevicePresence.NO_DEVICE : executor.presence(view);
  }
}
