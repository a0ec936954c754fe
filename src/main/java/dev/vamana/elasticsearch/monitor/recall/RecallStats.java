package dev.vamana.elasticsearch.monitor.recall;

import dev.vamana.elasticsearch.monitor.recall.FieldRecall.Question;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * What samples on a node showed.
 *
 * @param evaluated samples that were evaluated since the node started
 * @param workMillis time that this took
 * @param skipped samples of open shards that were not evaluated, by reason
 * @param rows recall of the fields of open shards
 */
public record RecallStats(
    long evaluated, long workMillis, SortedMap<String, Long> skipped, List<Row> rows)
    implements Writeable, ToXContentObject {

  /**
   * The recall of searches that were asked in the same way.
   *
   * @param queries number of evaluated searches
   * @param recall mean recall, from 0 to 1
   * @param low lower end of its 95 % interval
   * @param high upper end of that interval
   */
  public record Row(
      String index,
      String field,
      int k,
      int numCandidates,
      long queries,
      double recall,
      double low,
      double high)
      implements Writeable {

    Row(StreamInput in) throws IOException {
      this(
          in.readString(),
          in.readString(),
          in.readVInt(),
          in.readVInt(),
          in.readVLong(),
          in.readDouble(),
          in.readDouble(),
          in.readDouble());
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeString(index);
      out.writeString(field);
      out.writeVInt(k);
      out.writeVInt(numCandidates);
      out.writeVLong(queries);
      out.writeDouble(recall);
      out.writeDouble(low);
      out.writeDouble(high);
    }
  }

  /** Reads what {@link #writeTo} wrote. */
  public RecallStats(StreamInput in) throws IOException {
    this(
        in.readVLong(),
        in.readVLong(),
        new TreeMap<>(in.readMap(StreamInput::readVLong)),
        in.readCollectionAsList(Row::new));
  }

  static RecallStats of(Map<ShardId, ShardRecall> shards, long evaluated, long workNanos) {
    SortedMap<String, Long> skipped = new TreeMap<>();
    SortedMap<String, SortedMap<String, FieldRecall>> indices = new TreeMap<>();
    shards.forEach(
        (shard, recall) -> {
          recall.skipped().forEach((why, count) -> skipped.merge(why, count, Long::sum));
          SortedMap<String, FieldRecall> fields =
              indices.computeIfAbsent(shard.getIndexName(), index -> new TreeMap<>());
          recall
              .fields()
              .forEach(
                  (name, field) ->
                      fields.computeIfAbsent(name, none -> new FieldRecall()).add(field, ""));
        });
    List<Row> rows = new ArrayList<>();
    indices.forEach(
        (index, fields) ->
            fields.forEach(
                (name, field) ->
                    field.questions.forEach(
                        (question, asked) -> rows.add(row(index, name, question, asked.answers)))));
    return new RecallStats(evaluated, workNanos / 1_000_000, skipped, rows);
  }

  private static Row row(String index, String field, Question question, Tally answers) {
    Tally.Interval interval = answers.interval();
    return new Row(
        index,
        field,
        question.k(),
        question.numCandidates(),
        Math.round(answers.queries()),
        answers.recall(),
        interval.low(),
        interval.high());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeVLong(evaluated);
    out.writeVLong(workMillis);
    out.writeMap(skipped, StreamOutput::writeVLong);
    out.writeCollection(rows);
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject();
    json.field("evaluated", evaluated);
    json.field("time_in_millis", workMillis);
    json.field("skipped", skipped);
    json.startArray("searches");
    for (Row row : rows) {
      json.startObject();
      json.field("index", row.index());
      json.field("field", row.field());
      json.field("k", row.k());
      json.field("num_candidates", row.numCandidates());
      json.field("queries", row.queries());
      json.field("recall", RecallReport.rounded(row.recall()));
      json.field("low", RecallReport.rounded(row.low()));
      json.field("high", RecallReport.rounded(row.high()));
      json.endObject();
    }
    json.endArray();
    return json.endObject();
  }
}
