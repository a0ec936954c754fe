package dev.vamana.cuda.question;

import dev.vamana.cuda.batch.DirectWalks;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.hostfetch.FetchLane;
import dev.vamana.cuda.hostfetch.FetchOptions;
import dev.vamana.cuda.hostfetch.FetchShape;
import dev.vamana.cuda.hostfetch.FetchTicket;
import dev.vamana.cuda.kernel.ListCodes;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.lane.DeviceResult;
import dev.vamana.cuda.lane.HeldSegment;
import dev.vamana.cuda.lane.Lease;
import dev.vamana.cuda.lane.SpareProcessors;
import dev.vamana.cuda.lane.Waiters;
import dev.vamana.cuda.lists.ListKernels;
import dev.vamana.cuda.memory.FixedPlacements;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.ivf.CodeKind;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.lucene.index.VectorEncoding;

/** Walks by every kernel, and by the steps of host fetch; or searches of lists by every kernel. */
final class WalkQuestions implements Questions {

  private static final int ITEMS = 3;
  private static final int BEAM = 64;
  private static final int PARENTS = 4;
  private static final long DEVICE_BYTES = 16L << 20;

  private final CudaDriver driver;
  private final SessionHostMemory account;
  private final KnownVectors known;
  private final KnownSegment floats;
  private final KnownSegment bytes;
  private final int first;
  private final FixedPlacements places;
  private final DirectWalks walks;

  /**
   * Pins a megabyte.
   *
   * @param floats the vectors as floats, with a graph and codes, or with lists
   * @param bytes the vectors as bytes
   * @param round number of the round, by which queries differ
   */
  WalkQuestions(
      CudaDriver driver,
      SessionHostMemory account,
      KnownVectors known,
      KnownSegment floats,
      KnownSegment bytes,
      int round) {
    this.driver = driver;
    this.account = account;
    this.known = known;
    this.floats = floats;
    this.bytes = bytes;
    this.first = round * ITEMS;
    this.places = new FixedPlacements(driver, DEVICE_BYTES);
    this.walks = new DirectWalks(driver, account);
  }

  @Override
  public List<Question> all() {
    List<Question> questions = new ArrayList<>();
    if (floats.hasLists()) {
      questions.addAll(lists(floats));
      questions.addAll(lists(bytes));
      return questions;
    }
    questions.addAll(of(floats, Placement.EXACT, Policy.EXACT_F32));
    questions.addAll(of(floats, Placement.EXACT_FLOAT16, Policy.EXACT_F16));
    questions.addAll(of(floats, Placement.EXACT_INT8, Policy.EXACT_BYTE));
    questions.addAll(of(bytes, Placement.EXACT, Policy.EXACT_BYTE));
    questions.addAll(
        of(
            floats,
            Placement.IN_MEMORY,
            Policy.TABLE_HALF,
            Policy.TABLE_FLOAT,
            Policy.TABLE_GLOBAL));
    questions.add(fetch(floats));
    return questions;
  }

  /** Returns the questions to the kernels of one placement. */
  private List<Question> of(KnownSegment segment, Placement placement, Policy... policies) {
    ResidentSegment[] placed = new ResidentSegment[1];
    List<Question> questions = new ArrayList<>();
    for (Policy policy : policies) {
      for (int warps : Tuning.WARPS) {
        Tuning tuning =
            Tuning.DEFAULT.withTable(policy.quantized() ? policy : null).withWarps(warps);
        questions.add(
            new Question(
                policy.kernelName(warps),
                () -> {
                  if (placed[0] == null) {
                    placed[0] = places.place(segment, placement);
                  }
                  walk(segment, placed[0], tuning);
                }));
      }
    }
    return questions;
  }

  /** Returns the questions to the kernels that search inverted lists. */
  private List<Question> lists(KnownSegment segment) {
    ResidentSegment[] placed = new ResidentSegment[1];
    boolean bytes = segment.encoding() == VectorEncoding.BYTE;
    List<ListCodes> kernels =
        segment.lists().shape().kind().isRabitq()
            ? List.of(ListCodes.BITS)
            : List.of(ListCodes.TABLE, ListCodes.TABLE_GLOBAL);
    List<Question> questions = new ArrayList<>();
    if (segment.lists().shape().kind() == CodeKind.RABITQ1) {
      questions.add(
          new Question(
              "list_batch", () -> ask(segment, placed, Tuning.DEFAULT.withListSharing(1))));
    }
    for (ListCodes codes : kernels) {
      Policy table = codes == ListCodes.TABLE_GLOBAL ? Policy.TABLE_GLOBAL : null;
      for (int warps : ListKernels.tuned(codes)) {
        Tuning tuning = Tuning.DEFAULT.withTable(table).withWarps(warps);
        questions.add(
            new Question(
                ListKernels.name(bytes, codes, ListKernels.warps(warps, codes)),
                () -> ask(segment, placed, tuning)));
      }
    }
    return questions;
  }

  private void ask(KnownSegment segment, ResidentSegment[] placed, Tuning tuning)
      throws IOException {
    if (placed[0] == null) {
      placed[0] = places.place(segment, Placement.EXACT);
    }
    walk(segment, placed[0], tuning);
  }

  private void walk(KnownSegment segment, ResidentSegment placed, Tuning tuning)
      throws IOException {
    List<WorkItem> items = items(segment);
    List<DeviceResult> results = walks.walk(items, placed, tuning);
    for (int q = 0; q < items.size(); q++) {
      check(q, results.get(q));
    }
  }

  private void check(int query, DeviceResult result) {
    Question.check(
        result.fault() != null || result.complete() == false
            ? "the walk did not end"
            : wrong(query, result.ordinals(), result.scores()));
  }

  private String wrong(int query, int[] ordinals, float[] scores) {
    return known.wrong(first + query, ordinals, scores, KnownVectors.NEIGHBORS, 1, null);
  }

  /** Returns the question to host fetch. */
  private Question fetch(KnownSegment segment) {
    return new Question(
        "host fetch", () -> fetch(segment, places.place(segment, Placement.HOST_FETCH)));
  }

  private void fetch(KnownSegment segment, ResidentSegment placed) throws IOException {
    FetchOptions options =
        new FetchOptions(1, ITEMS, FetchOptions.MIN_BYTES, FetchOptions.MIN_BYTES);
    // the ticket has the failure, too
    FetchLane fetch = new FetchLane(driver, options, account, failure -> {});
    try {
      List<WorkItem> items = items(segment);
      HeldSegment held = new HeldSegment(new Lease(segment), placed);
      FetchTicket ticket =
          new FetchTicket(
              FetchShape.of(items.get(0)),
              new int[items.size()],
              items,
              Collections.nCopies(items.size(), held));
      fetch.submit(ticket);
      new Waiters(Waiters.usualSpinners(), SpareProcessors.always()).await(ticket, () -> false);
      if (ticket.failure() != null) {
        throw ticket.failure();
      }
      for (int q = 0; q < ticket.count(); q++) {
        check(q, ticket.result(q));
      }
    } finally {
      fetch.stop();
      fetch.free();
    }
  }

  private List<WorkItem> items(KnownSegment segment) throws IOException {
    WalkParameters walk =
        new WalkParameters(
            BEAM, WalkParameters.Distances.QUANTIZED, PARENTS, KnownVectors.NEIGHBORS);
    List<WorkItem> items = new ArrayList<>();
    for (int q = 0; q < ITEMS; q++) {
      items.add(
          new WorkItem(
              segment,
              segment.query(known, first + q),
              KnownVectors.NEIGHBORS,
              walk,
              null,
              segment.size(),
              Long.MAX_VALUE,
              () -> false,
              new int[0]));
    }
    return items;
  }

  @Override
  public void close() {
    try {
      walks.close();
    } finally {
      places.close();
    }
  }
}
