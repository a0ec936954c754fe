package dev.vamana.elasticsearch.search;

import java.util.List;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.indices.breaker.CircuitBreakerMetrics;
import org.elasticsearch.indices.breaker.HierarchyCircuitBreakerService;

/** The server's own request breaker, with a limit. */
public final class RequestBreaker {

  private RequestBreaker() {}

  /** A breaker that counts what it is told, and not the heap. */
  public static CircuitBreaker withLimit(long bytes) {
    Settings settings =
        Settings.builder()
            .put("indices.breaker.request.limit", bytes + "b")
            .put("indices.breaker.total.use_real_memory", false)
            .build();
    return new HierarchyCircuitBreakerService(
            CircuitBreakerMetrics.NOOP,
            settings,
            List.of(),
            new ClusterSettings(settings, ClusterSettings.BUILT_IN_CLUSTER_SETTINGS))
        .getBreaker(CircuitBreaker.REQUEST);
  }
}
