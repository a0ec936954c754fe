package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.search.DevicePresence;
import java.util.Comparator;
import java.util.List;
import org.elasticsearch.action.support.DefaultShardOperationFailedException;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.Table;
import org.elasticsearch.common.unit.ByteSizeValue;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.action.RestCancellableNodeClient;
import org.elasticsearch.rest.action.RestResponseListener;
import org.elasticsearch.rest.action.cat.AbstractCatAction;
import org.elasticsearch.rest.action.cat.RestTable;

/**
 * {@code GET /_cat/vamana} and {@code GET /_cat/vamana/{index}}: one row per vector field of a
 * segment.
 */
public final class RestCatVamanaAction extends AbstractCatAction {

  private static final String RIGHT = ";text-align:right";

  private static final Comparator<SegmentsResponse.OfShard> COPIES =
      Comparator.comparing(SegmentsResponse.OfShard::index)
          .thenComparingInt(SegmentsResponse.OfShard::shard)
          .thenComparing(copy -> copy.primary() == false)
          .thenComparing(SegmentsResponse.OfShard::node);

  private static final Comparator<FieldSegment> SEGMENTS =
      Comparator.comparingInt((FieldSegment row) -> row.report().segment().length())
          .thenComparing(row -> row.report().segment())
          .thenComparing(row -> row.report().field());

  @Override
  public String getName() {
    return "cat_vamana";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        new Route(RestRequest.Method.GET, "/_cat/vamana"),
        new Route(RestRequest.Method.GET, "/_cat/vamana/{index}"));
  }

  @Override
  protected void documentation(StringBuilder text) {
    text.append("/_cat/vamana\n").append("/_cat/vamana/{index}\n");
  }

  @Override
  protected RestChannelConsumer doCatRequest(RestRequest request, NodeClient client) {
    SegmentsRequest segments = SegmentsRequest.of(request);
    return channel ->
        new RestCancellableNodeClient(client, request.getHttpChannel())
            .execute(
                TransportSegmentsAction.TYPE,
                segments,
                new RestResponseListener<>(channel) {
                  @Override
                  public RestResponse buildResponse(SegmentsResponse response) throws Exception {
                    return RestTable.buildResponse(table(request, response), channel);
                  }
                });
  }

  @Override
  protected Table getTableWithHeader(RestRequest request) {
    return new Table()
        .startHeaders()
        .addCell("index", "alias:i,idx;desc:name of the index")
        .addCell("shard", "alias:s,sh;desc:number of the shard" + RIGHT)
        .addCell("prirep", "alias:p,pr,primaryOrReplica;desc:primary or replica")
        .addCell("node", "alias:n;desc:name of the node")
        .addCell("segment", "alias:seg;desc:name of the segment")
        .addCell("field", "alias:f;desc:name of the field")
        .addCell("vectors", "alias:v;desc:vectors, deleted ones included" + RIGHT)
        .addCell("dims", "alias:d;desc:dimensions" + RIGHT)
        .addCell("similarity", "alias:sim;desc:how the segment compares vectors")
        .addCell("placement", "alias:pl;desc:placement on the device, or cpu")
        .addCell("state", "alias:st;desc:resident, or why it is not on the device")
        .addCell("vectors.disk", "alias:vd;desc:bytes of the raw vectors on disk" + RIGHT)
        .addCell("graph.disk", "alias:gd;desc:bytes of the graph on disk" + RIGHT)
        .addCell("codes.disk", "alias:cd;desc:bytes of the codes on disk" + RIGHT)
        .addCell("device", "alias:dv;desc:all bytes on the device" + RIGHT)
        .addCell("codebook", "alias:cb;desc:shared codebook of the codes, own without one")
        .addCell("codebook.version", "alias:cbv;desc:version of that codebook" + RIGHT)
        .endHeaders();
  }

  Table table(RestRequest request, SegmentsResponse response) {
    Table table = getTableWithHeader(request);
    for (SegmentsResponse.OfShard copy : response.shards().stream().sorted(COPIES).toList()) {
      copy.segments().stream().sorted(SEGMENTS).forEach(row -> add(table, copy, row));
    }
    for (DefaultShardOperationFailedException failure : response.getShardFailures()) {
      add(table, failure);
    }
    return table;
  }

  private static void add(Table table, SegmentsResponse.OfShard copy, FieldSegment row) {
    SegmentReport report = row.report();
    DevicePresence presence = report.presence();
    table.startRow();
    table.addCell(copy.index());
    table.addCell(copy.shard());
    table.addCell(copy.primary() ? "p" : "r");
    table.addCell(copy.node());
    table.addCell(report.segment());
    table.addCell(report.field());
    table.addCell(report.vectors());
    table.addCell(row.dimension());
    table.addCell(row.similarity());
    table.addCell(presence.placement() == null ? "cpu" : presence.placement());
    table.addCell(row.state());
    table.addCell(ByteSizeValue.ofBytes(row.vectorBytes()));
    table.addCell(ByteSizeValue.ofBytes(row.graphBytes()));
    table.addCell(ByteSizeValue.ofBytes(row.codeBytes()));
    table.addCell(ByteSizeValue.ofBytes(presence.deviceBytes()));
    boolean shared = row.codebook() != null && row.codebook().isEmpty() == false;
    table.addCell(row.codebook() == null ? null : shared ? row.codebook() : "own");
    table.addCell(shared ? row.codebookVersion() : null);
    table.endRow();
  }

  /** Adds a row without a segment for a copy of a shard that failed. */
  private static void add(Table table, DefaultShardOperationFailedException failure) {
    table.startRow();
    table.addCell(failure.index());
    table.addCell(failure.shardId());
    int state = table.getHeaders().indexOf(table.findHeaderByName("state"));
    for (int column = 2; column < state; column++) {
      table.addCell(null);
    }
    table.addCell("unreadable");
    table.endRow(false);
  }
}
