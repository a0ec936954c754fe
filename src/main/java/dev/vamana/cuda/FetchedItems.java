package dev.vamana.cuda;

import dev.vamana.cuda.batch.BatchDevice;
import dev.vamana.cuda.batch.HeldSegment;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.hostfetch.FetchCall;
import dev.vamana.cuda.hostfetch.FetchItem;
import dev.vamana.cuda.hostfetch.FetchResult;
import dev.vamana.cuda.hostfetch.HostFetch;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * The items of one call whose segments are placed as {@link Placement#HOST_FETCH}: the CPU fetches
 * neighbours and vectors for the device's walk. {@link ScannedItems} is the counterpart for exact
 * searches.
 */
final class FetchedItems {

  private final HostFetch fetch;
  private final BatchDevice device;
  private final Counters counters;
  private final List<FetchItem> items = new ArrayList<>();
  private final List<Integer> indices = new ArrayList<>();
  private final Set<HeldSegment> held = Collections.newSetFromMap(new IdentityHashMap<>());
  private FetchCall call;

  FetchedItems(HostFetch fetch, BatchDevice device, Counters counters) {
    this.fetch = fetch;
    this.device = device;
    this.counters = counters;
  }

  /**
   * Adds an item.
   *
   * @param index the item's index in the call
   */
  void add(int index, WorkItem item, HeldSegment segment) {
    if (held.add(segment)) {
      segment.hold();
    }
    items.add(new FetchItem(item, segment));
    indices.add(index);
  }

  /** Submits the items to {@link HostFetch}. */
  void submit() throws IOException {
    if (items.isEmpty() == false) {
      call = fetch.submit(items);
    }
  }

  /**
   * Waits for the results and stores them. Returns the indices of the items that the CPU has to
   * answer.
   */
  List<Integer> finish(WorkResult[] results) throws IOException {
    if (call == null) {
      return List.of();
    }
    List<FetchResult> found;
    try {
      found = call.await();
    } catch (GpuException e) {
      counters.fallback(Counters.reason(e), indices.size(), e.getMessage());
      return indices;
    }
    List<Integer> forCpu = new ArrayList<>();
    int answered = 0;
    for (int i = 0; i < found.size(); i++) {
      WorkItem item = items.get(i).item();
      FetchResult result = found.get(i);
      device.walked(result.visited(), result.iterations());
      if (result.corrupt()) {
        counters.fallback(FallbackReason.CORRUPT, 1, item.segment().name());
        forCpu.add(indices.get(i));
        continue;
      }
      WorkResult own =
          new WorkResult(result.ordinals(), result.scores(), result.visited(), result.complete());
      if (CpuExecutor.missesHits(item, own)) {
        counters.fallback(FallbackReason.FEW_HITS, 1, item.segment().name());
        own = CpuExecutor.scan(item);
      } else {
        answered++;
      }
      results[indices.get(i)] = own;
    }
    counters.answered(Placement.HOST_FETCH, answered);
    return forCpu;
  }

  /** Waits for the device if the call was submitted, and releases the segments. */
  void close() {
    if (call != null) {
      call.join();
    }
    held.forEach(HeldSegment::release);
    held.clear();
  }
}
