package dev.vamana.elasticsearch.monitor.recall;

import java.io.IOException;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * What the evaluated samples of a copy of a shard showed, and how many samples were skipped.
 *
 * @param fields by field
 * @param skipped number of samples that were not evaluated, by reason
 */
record ShardRecall(SortedMap<String, FieldRecall> fields, SortedMap<String, Long> skipped)
    implements Writeable {

  static final ShardRecall NONE =
      new ShardRecall(Collections.emptySortedMap(), Collections.emptySortedMap());

  ShardRecall(StreamInput in) throws IOException {
    this(
        new TreeMap<>(in.readMap(FieldRecall::new)),
        new TreeMap<>(in.readMap(StreamInput::readVLong)));
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeMap(fields, StreamOutput::writeWriteable);
    out.writeMap(skipped, StreamOutput::writeVLong);
  }

  /** Collects samples of one copy of a shard. Thread-safe. */
  static final class Collector {
    private final SortedMap<String, FieldRecall> fields = new TreeMap<>();
    private final SortedMap<String, Long> skipped = new TreeMap<>();

    synchronized void add(RecallSample sample, Evaluation.Outcome outcome) {
      fields.computeIfAbsent(sample.field(), field -> new FieldRecall()).add(sample, outcome);
    }

    synchronized void skip(Skipped reason) {
      skipped.merge(reason.label(), 1L, Long::sum);
    }

    synchronized ShardRecall snapshot() {
      SortedMap<String, FieldRecall> copies = new TreeMap<>();
      for (Map.Entry<String, FieldRecall> field : fields.entrySet()) {
        copies.put(field.getKey(), field.getValue().copy());
      }
      return new ShardRecall(copies, new TreeMap<>(skipped));
    }
  }
}
