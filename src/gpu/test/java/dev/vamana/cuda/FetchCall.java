package dev.vamana.cuda;

import dev.vamana.cuda.hostfetch.FetchLane;
import dev.vamana.cuda.hostfetch.FetchShape;
import dev.vamana.cuda.hostfetch.FetchTicket;
import dev.vamana.cuda.lane.DeviceResult;
import dev.vamana.cuda.lane.SpareProcessors;
import dev.vamana.cuda.lane.Waiters;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.lucene.store.AlreadyClosedException;

/** Items of one call of host fetch: a ticket for each shape. The caller re-ranks. */
final class FetchCall {
  private final List<FetchTicket> tickets = new ArrayList<>();
  private final List<WorkItem> items;

  FetchCall(FetchLane fetch, List<WorkItem> items, Function<SegmentView, ResidentSegment> held)
      throws IOException {
    this.items = items;
    Map<FetchShape, List<Integer>> shapes = new LinkedHashMap<>();
    for (int i = 0; i < items.size(); i++) {
      shapes.computeIfAbsent(FetchShape.of(items.get(i)), unseen -> new ArrayList<>()).add(i);
    }
    shapes.forEach(
        (shape, own) ->
            tickets.add(
                new FetchTicket(
                    shape,
                    own.stream().mapToInt(i -> i).toArray(),
                    own.stream().map(items::get).toList(),
                    own.stream().map(i -> held.apply(items.get(i).segment())).toList())));
    for (FetchTicket ticket : tickets) {
      for (int i = 0; i < ticket.count(); i++) {
        if (items.get(ticket.item(i)).cancelled().getAsBoolean()) {
          ticket.unwanted(i);
        }
      }
    }
    tickets.forEach(fetch::submit);
  }

  List<DeviceResult> await() throws IOException {
    DeviceResult[] results = new DeviceResult[tickets.stream().mapToInt(FetchTicket::count).sum()];
    Waiters waiters = new Waiters(Waiters.usualSpinners(), SpareProcessors.always());
    try {
      for (FetchTicket ticket : tickets) {
        waiters.await(ticket, () -> false);
        if (ticket.closing()) {
          throw new AlreadyClosedException("closed");
        }
        if (ticket.failure() != null) {
          throw ticket.failure();
        }
        for (int i = 0; i < ticket.count(); i++) {
          results[ticket.item(i)] = reranked(items.get(ticket.item(i)), ticket.result(i));
        }
      }
    } finally {
      tickets.forEach(FetchTicket::leave);
    }
    return Arrays.asList(results);
  }

  private static DeviceResult reranked(WorkItem item, DeviceResult found) throws IOException {
    if (found.approximate() == false) {
      return found;
    }
    WorkResult hits = CpuExecutor.rerank(item, found.ordinals(), found.visited(), found.complete());
    return new DeviceResult(
        hits.ordinals(),
        hits.scores(),
        found.visited(),
        found.iterations(),
        found.complete(),
        false,
        null);
  }
}
