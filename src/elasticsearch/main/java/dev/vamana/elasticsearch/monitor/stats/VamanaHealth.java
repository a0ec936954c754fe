package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.elasticsearch.monitor.Trouble;
import dev.vamana.elasticsearch.monitor.Trouble.Kind;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.ElasticsearchException;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.health.Diagnosis;
import org.elasticsearch.health.HealthIndicatorDetails;
import org.elasticsearch.health.HealthIndicatorImpact;
import org.elasticsearch.health.HealthIndicatorResult;
import org.elasticsearch.health.HealthIndicatorService;
import org.elasticsearch.health.HealthStatus;
import org.elasticsearch.health.ImpactArea;
import org.elasticsearch.health.SimpleHealthIndicatorDetails;
import org.elasticsearch.health.node.HealthInfo;

/**
 * The indicator {@code vamana} of {@code GET _health_report}: asks all nodes for what is wrong.
 * Yellow if something should be done; searches are answered nevertheless.
 */
public final class VamanaHealth implements HealthIndicatorService {
  private static final String NAME = "vamana";
  private static final TimeValue TIMEOUT = TimeValue.timeValueSeconds(10);
  private static final int SEVERITY = 3;

  private final Client client;

  /** Makes an indicator that asks nodes through a client. */
  public VamanaHealth(Client client) {
    this.client = client;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public HealthIndicatorResult calculate(boolean verbose, int mostResources, HealthInfo info) {
    StatsResponse answer;
    try {
      answer =
          client
              .execute(TransportStatsAction.TYPE, new StatsRequest(Set.of("health")))
              .actionGet(TIMEOUT);
    } catch (ElasticsearchException e) {
      return createIndicator(
          HealthStatus.UNKNOWN,
          "The nodes could not be asked: " + e.getMessage(),
          HealthIndicatorDetails.EMPTY,
          List.of(),
          List.of());
    }
    return of(answer.getNodes(), verbose, mostResources);
  }

  /** The result of what nodes answered. */
  HealthIndicatorResult of(List<NodeStats> nodes, boolean verbose, int mostResources) {
    Map<Kind, List<DiscoveryNode>> where = new EnumMap<>(Kind.class);
    List<Map<String, String>> details = new ArrayList<>();
    for (NodeStats node : nodes) {
      for (Trouble trouble : Trouble.of((List<?>) node.sections().get("health"))) {
        List<DiscoveryNode> affected =
            where.computeIfAbsent(trouble.kind(), kind -> new ArrayList<>());
        if (affected.contains(node.getNode()) == false) {
          affected.add(node.getNode());
        }
        if (details.size() < mostResources) {
          details.add(
              Map.of(
                  "node", node.getNode().getName(),
                  "kind", trouble.kind().label(),
                  "subject", trouble.subject(),
                  "message", trouble.message()));
        }
      }
    }
    where.keySet().removeIf(kind -> kind.isHarmful() == false);
    boolean well = where.isEmpty();
    List<HealthIndicatorImpact> impacts = new ArrayList<>();
    List<Diagnosis> diagnoses = new ArrayList<>();
    where.forEach(
        (kind, affected) -> {
          impacts.add(
              new HealthIndicatorImpact(
                  NAME, kind.label(), SEVERITY, kind.impact, List.of(ImpactArea.SEARCH)));
          diagnoses.add(
              new Diagnosis(
                  new Diagnosis.Definition(NAME, kind.label(), kind.cause, kind.action, null),
                  List.of(new Diagnosis.Resource(first(affected, mostResources)))));
        });
    return createIndicator(
        well ? HealthStatus.GREEN : HealthStatus.YELLOW,
        well ? "Vector searches have no trouble." : "Vector searches have trouble: " + names(where),
        verbose
            ? new SimpleHealthIndicatorDetails(Map.of("troubles", details))
            : HealthIndicatorDetails.EMPTY,
        impacts,
        verbose ? diagnoses : List.of());
  }

  private static List<DiscoveryNode> first(List<DiscoveryNode> nodes, int most) {
    return List.copyOf(nodes.subList(0, Math.min(most, nodes.size())));
  }

  private static String names(Map<Kind, List<DiscoveryNode>> where) {
    return String.join(", ", where.keySet().stream().map(Kind::label).toList());
  }
}
