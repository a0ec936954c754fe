package dev.vamana.elasticsearch.monitor.stats;

import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.elasticsearch.action.FailedNodeException;
import org.elasticsearch.action.support.TransportAction;
import org.elasticsearch.action.support.nodes.BaseNodesXContentResponse;
import org.elasticsearch.cluster.ClusterName;
import org.elasticsearch.common.collect.Iterators;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.xcontent.ToXContent;

/** The statistics of all nodes that answered. */
public final class StatsResponse extends BaseNodesXContentResponse<NodeStats> {
  private static final Figures NODES =
      new Figures(
          "vamana", "nodes.<result> | gauge | | Nodes that were asked, by whether they answered.");

  StatsResponse(ClusterName cluster, List<NodeStats> nodes, List<FailedNodeException> failures) {
    super(cluster, nodes, failures);
  }

  @Override
  protected List<NodeStats> readNodesFrom(StreamInput in) throws IOException {
    return TransportAction.localOnly();
  }

  @Override
  protected void writeNodesTo(StreamOutput out, List<NodeStats> nodes) throws IOException {
    TransportAction.localOnly();
  }

  @Override
  protected Iterator<? extends ToXContent> xContentChunks(ToXContent.Params outer) {
    return Iterators.concat(
        Iterators.single((json, params) -> json.startObject("nodes")),
        Iterators.map(
            getNodes().iterator(),
            node ->
                (json, params) ->
                    node.toXContent(json.startObject(node.getNode().getId()), params).endObject()),
        Iterators.single((json, params) -> json.endObject()));
  }

  /** The statistics as OpenMetrics. */
  OpenMetrics openMetrics() {
    OpenMetrics text = new OpenMetrics();
    String cluster = getClusterName().value();
    NODES.addTo(
        text,
        Map.of("cluster", cluster),
        Map.of("nodes", Map.of("successful", getNodes().size(), "failed", failures().size())));
    for (NodeStats node : getNodes()) {
      Map<String, String> labels = new LinkedHashMap<>();
      labels.put("cluster", cluster);
      labels.put("node", node.getNode().getId());
      labels.put("node_name", node.getNode().getName());
      NodeFigures.addTo(text, labels, node.sections());
    }
    return text;
  }
}
