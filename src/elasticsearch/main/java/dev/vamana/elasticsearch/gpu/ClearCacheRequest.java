package dev.vamana.elasticsearch.gpu;

import dev.vamana.elasticsearch.monitor.ShardsRequest;
import java.io.IOException;
import org.elasticsearch.common.io.stream.StreamInput;

/** Asks the nodes that hold indices to remove the indices' segments from the device. */
public final class ClearCacheRequest extends ShardsRequest<ClearCacheRequest> {

  /** Makes a request for some indices, by name, alias or pattern. */
  public ClearCacheRequest(String... indices) {
    super(indices);
  }

  /** Reads what {@link #writeTo} wrote. */
  public ClearCacheRequest(StreamInput in) throws IOException {
    super(in);
  }
}
