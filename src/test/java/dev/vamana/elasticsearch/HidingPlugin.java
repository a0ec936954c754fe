package dev.vamana.elasticsearch;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;

/**
 * Takes the one reader wrapper of every index, as security does, and hides documents with {@code
 * "hidden": "yes"} from whoever searches. {@code GET /_hiding} tells how often it has wrapped a
 * reader.
 */
public final class HidingPlugin extends Plugin implements ActionPlugin {
  private static final Setting<Boolean> HIDING =
      Setting.boolSetting("index.hiding", false, Setting.Property.IndexScope);

  private final AtomicLong wrapped = new AtomicLong();

  @Override
  public List<Setting<?>> getSettings() {
    return List.of(HIDING);
  }

  @Override
  public void onIndexModule(IndexModule module) {
    if (HIDING.get(module.getSettings())) {
      module.setReaderWrapper(
          index ->
              reader -> {
                wrapped.incrementAndGet();
                return new HidingReader(reader);
              });
    }
  }

  @Override
  public Collection<RestHandler> getRestHandlers(
      RestHandlersServices services,
      Supplier<DiscoveryNodes> nodes,
      Predicate<NodeFeature> features) {
    return List.of(new CountHandler(wrapped));
  }

  private static final class CountHandler extends BaseRestHandler {
    private final AtomicLong wrapped;

    private CountHandler(AtomicLong wrapped) {
      this.wrapped = wrapped;
    }

    @Override
    public String getName() {
      return "hiding";
    }

    @Override
    public List<Route> routes() {
      return List.of(new Route(RestRequest.Method.GET, "/_hiding"));
    }

    @Override
    protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client)
        throws IOException {
      return channel ->
          channel.sendResponse(
              new RestResponse(
                  RestStatus.OK,
                  channel.newBuilder().startObject().field("wrapped", wrapped.get()).endObject()));
    }
  }
}
