package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.search.WorkItem;
import java.util.Objects;

/**
 * A work item with its resident segment.
 *
 * @param item the item
 * @param segment its segment, whose codes are on the device; the caller holds it until the call has
 *     ended
 */
public record FetchItem(WorkItem item, ResidentSegment segment) {
  public FetchItem {
    Objects.requireNonNull(item, "item");
    Objects.requireNonNull(segment, "segment");
  }
}
