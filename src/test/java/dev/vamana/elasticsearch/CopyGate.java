package dev.vamana.elasticsearch;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.ForwardingDriver;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;

/**
 * Holds all copies to a device back while it is shut, so that uploads stay on their way: {@code
 * POST /_simulated/copies/shut} and {@code POST /_simulated/copies/open}.
 */
final class CopyGate {
  private boolean shut;

  private synchronized void set(boolean value) {
    shut = value;
    notifyAll();
  }

  /** Lets all pass. */
  void open() {
    set(false);
  }

  private synchronized void pass() {
    while (shut) {
      try {
        wait();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  /** A driver whose copies pass here first. */
  CudaDriver before(CudaDriver driver) {
    return new ForwardingDriver(driver) {
      @Override
      public void copyToDevice(long target, MemorySegment source, long stream) {
        pass();
        super.copyToDevice(target, source, stream);
      }

      @Override
      public void copyRowsToDevice(
          long target, long targetPitch, MemorySegment source, long width, long rows, long stream) {
        pass();
        super.copyRowsToDevice(target, targetPitch, source, width, rows, stream);
      }
    };
  }

  /** The endpoint that opens and shuts. */
  RestHandler handler() {
    return new BaseRestHandler() {
      @Override
      public String getName() {
        return "simulated_copies";
      }

      @Override
      public List<Route> routes() {
        return List.of(new Route(RestRequest.Method.POST, "/_simulated/copies/{gate}"));
      }

      @Override
      protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
        boolean value = request.param("gate").equals("shut");
        return channel -> {
          set(value);
          channel.sendResponse(
              new RestResponse(RestStatus.OK, channel.newBuilder().startObject().endObject()));
        };
      }
    };
  }
}
