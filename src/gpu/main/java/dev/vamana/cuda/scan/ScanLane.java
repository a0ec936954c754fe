package dev.vamana.cuda.scan;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.exact.ExactBatch;
import dev.vamana.cuda.lane.BatchLane;
import dev.vamana.cuda.lane.SpareProcessors;
import dev.vamana.cuda.lane.Waker;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.ResidentRows;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.plan.PlanCounters;
import java.util.List;
import java.util.function.Consumer;

/**
 * The lane of exact searches of segments on the device. It has streams of its own, so that scans do
 * not delay walks.
 */
public final class ScanLane extends BatchLane<ScanTicket> {

  /** Most hits of a query. */
  public static final int MAX_K = ExactBatch.MAX_K;

  private static final int ALIGNMENT = 16;
  private static final int MAX_BATCH = 16_384;
  // to wake so many takes the lane as long as a third of a short scan
  private static final int MANY_CALLERS = 4;

  private final Waker<ScanTicket> waker =
      new Waker<>("vamana-gpu-exact-waker", Waker.usualThreads(), spare(), this::finishHandedOver);
  private final SessionHostMemory account;
  private final DeviceBudget budget;
  private final PlanCounters plans;
  private ScanBatch batch;

  /**
   * Makes an instance. The first ticket creates its streams and memory.
   *
   * @param account counts pinned memory; tickets fail with {@code OUT_OF_MEMORY} if it refuses
   * @param budget counts device memory, alike
   * @param plans counts batches
   * @param spare finds out whether the lane's thread may spin
   * @param onLost called once by the lane's thread, as its last act, if the context is lost
   */
  public ScanLane(
      CudaDriver driver,
      SessionHostMemory account,
      DeviceBudget budget,
      PlanCounters plans,
      SpareProcessors spare,
      Consumer<GpuException> onLost) {
    super("vamana-gpu-exact", driver, onLost, spare);
    this.account = account;
    this.budget = budget;
    this.plans = plans;
  }

  /** Whether rows are aligned as the kernels need them. */
  public static boolean reads(ResidentRows rows) {
    return rows != null && rows.address() % ALIGNMENT == 0 && rows.stride() % ALIGNMENT == 0;
  }

  /** Returns the number of waiting tickets. */
  public int waiting() {
    return inbox().size();
  }

  @Override
  protected boolean alike(ScanTicket first, ScanTicket ticket) {
    ScanTicket.Job one = first.job();
    ScanTicket.Job other = ticket.job();
    return other.equals(one)
        || (one.oneOfMany()
            && other.oneOfMany()
            && one.segment().view().encoding() == other.segment().view().encoding());
  }

  @Override
  protected int maxBatch() {
    return MAX_BATCH;
  }

  @Override
  protected void search(List<ScanTicket> tickets) {
    ScanTicket.Job first = tickets.get(0).job();
    if (tickets.size() >= MANY_CALLERS) {
      waker.expect();
    }
    try {
      if (batch == null) {
        batch = new ScanBatch(driver(), account, budget);
      }
      int searches = batch.search(tickets);
      batch.release();
      for (int i = 0; i < searches; i++) {
        plans.searched(first.gather() ? Plan.GATHER : Plan.SCAN);
      }
    } catch (GpuException e) {
      // nothing of it runs any more
      if (batch != null) {
        batch.release();
      }
      throw e;
    } catch (RuntimeException | Error e) {
      throw failed(e, this::drain);
    }
  }

  private void drain() {
    if (batch != null) {
      batch.drain();
    }
  }

  @Override
  protected boolean handOver(ScanTicket ticket) {
    return waker.take(ticket);
  }

  @Override
  public void stop() {
    super.stop();
    waker.stop();
  }

  @Override
  public void free() {
    if (batch != null) {
      batch.free();
      batch = null;
    }
  }
}
