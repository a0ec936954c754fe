package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.search.DevicePresence;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.action.support.DefaultShardOperationFailedException;
import org.elasticsearch.common.Table;
import org.junit.BeforeClass;

/** Rows of the table. */
public class RestCatVamanaActionTests extends LuceneTestCase {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static SegmentsResponse.OfShard row(
      String index, int shard, boolean primary, String segment, String codebook, long version) {
    FieldSegment row =
        new FieldSegment(
            new SegmentReport(
                segment, "v", 10, DevicePresence.resident("in-memory", 768), List.of()),
            true,
            3,
            "l2_norm",
            120,
            40,
            20,
            codebook,
            version);
    return new SegmentsResponse.OfShard(index, shard, primary, "node", List.of(row), Map.of());
  }

  private static Table table(
      List<SegmentsResponse.OfShard> copies, DefaultShardOperationFailedException... failures) {
    return new RestCatVamanaAction()
        .table(null, new SegmentsResponse(9, 8, failures.length, copies, Arrays.asList(failures)));
  }

  private static List<Object> column(Table table, String name) {
    return table.getAsMap().get(name).stream().map(cell -> cell.value).toList();
  }

  private static List<Object> nullable(Table table, String name) {
    return Arrays.asList(table.getAsMap().get(name).stream().map(cell -> cell.value).toArray());
  }

  /** Rows of the shards that answered are shown, and that others did not. */
  public void testACopyThatFailedIsARow() {
    Table table =
        table(
            List.of(row("a", 0, true, "_0", null, 0)),
            new DefaultShardOperationFailedException(
                "a", 1, new IllegalStateException("a file is damaged")));
    assertEquals(List.of("a", "a"), column(table, "index"));
    assertEquals(List.of(0, 1), column(table, "shard"));
    assertEquals(List.of("resident", "unreadable"), column(table, "state"));
    assertEquals(Arrays.asList("_0", null), nullable(table, "segment"));
  }
}
