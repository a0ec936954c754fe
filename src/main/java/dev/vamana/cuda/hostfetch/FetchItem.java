package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.search.WorkItem;
import java.util.Objects;

/**
 * An item and its segment on the device.
 *
 * @param item what is searched
 * @param segment its segment, whose codes are on the device; the caller keeps hold of it until the
 *     call has ended
 */
public record FetchItem(WorkItem item, ResidentSegment segment) {
  public FetchItem {
    Objects.requireNonNull(item, "item");
    Objects.requireNonNull(segment, "segment");
  }
}
