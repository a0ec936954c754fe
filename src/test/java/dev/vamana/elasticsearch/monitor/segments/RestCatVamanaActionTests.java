package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.search.DevicePresence;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.action.support.DefaultShardOperationFailedException;
import org.elasticsearch.common.Table;
import org.elasticsearch.common.unit.ByteSizeValue;
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

  public void testRowsAreInOrder() {
    SegmentsResponse.OfShard two = row("a", 2, true, "_10", null, 0);
    SegmentsResponse.OfShard both =
        new SegmentsResponse.OfShard(
            "a",
            2,
            true,
            "node",
            List.of(two.segments().get(0), row("a", 2, true, "_z", null, 0).segments().get(0)),
            Map.of());
    Table table =
        table(
            List.of(
                row("b", 0, true, "_0", null, 0),
                row("a", 10, true, "_0", null, 0),
                row("a", 2, false, "_0", null, 0),
                both));
    assertEquals(List.of("a", "a", "a", "a", "b"), column(table, "index"));
    assertEquals(List.of(2, 2, 2, 10, 0), column(table, "shard"));
    assertEquals(List.of("p", "p", "r", "p", "p"), column(table, "prirep"));
    assertEquals(List.of("_z", "_10", "_0", "_0", "_0"), column(table, "segment"));
  }

  public void testCellsOfARow() {
    Table table = table(List.of(row("a", 0, true, "_0", "book", 7)));
    Map<String, Object> expected =
        Map.of(
            "vectors",
            10,
            "dims",
            3,
            "placement",
            "in-memory",
            "state",
            "resident",
            "vectors.disk",
            ByteSizeValue.ofBytes(120),
            "graph.disk",
            ByteSizeValue.ofBytes(40),
            "device",
            ByteSizeValue.ofBytes(768),
            "codebook",
            "book",
            "codebook.version",
            7L);
    expected.forEach((name, value) -> assertEquals(name, List.of(value), column(table, name)));
  }

  public void testCodebooks() {
    Table table =
        table(
            List.of(
                row("a", 0, true, "_0", null, 0),
                row("a", 0, true, "_1", "", 1),
                row("a", 0, true, "_2", "book", 7)));
    assertEquals(Arrays.asList(null, "own", "book"), nullable(table, "codebook"));
    assertEquals(Arrays.asList(null, null, 7L), nullable(table, "codebook.version"));
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
