package dev.vamana.elasticsearch.monitor.recall;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/**
 * The recall of the sampled searches of a node.
 *
 * @param evaluated samples that were evaluated since the node started
 * @param workMillis time that this took
 * @param skipped samples that were not evaluated since then, by reason
 * @param rows recall of the fields of open shards
 */
public record RecallStats(
    long evaluated, long workMillis, SortedMap<String, Long> skipped, List<Row> rows) {

  /** The recall of searches in all shards of an index that the node has. */
  public record Row(String index, Searches searches, Tally tally) {

    /** The upper end of the 95 % interval of the mean recall, from 0 to 1. */
    public double high() {
      return tally.interval().high();
    }

    /** What row and recall are of, in words. */
    public String message() {
      Map<String, Object> figures = tally.figures();
      return "recall is at most "
          + figures.get("recall_high")
          + " with k up to "
          + searches.k()
          + ", by "
          + figures.get("queries")
          + " searches";
    }
  }

  /** The members of statistics. */
  public Map<String, Object> figures() {
    List<Map<String, Object>> searches = new ArrayList<>();
    for (Row row : rows) {
      Map<String, Object> figures = new LinkedHashMap<>();
      figures.put("index", row.index);
      figures.put("field", row.searches.field());
      figures.put("k", row.searches.k());
      figures.putAll(row.tally.figures());
      searches.add(figures);
    }
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("evaluated", evaluated);
    figures.put("time_in_millis", workMillis);
    figures.put("skipped", new LinkedHashMap<String, Object>(skipped));
    figures.put("searches", searches);
    return figures;
  }
}
