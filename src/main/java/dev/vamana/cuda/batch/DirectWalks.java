package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.Cleanup;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.lane.DeviceResult;
import dev.vamana.cuda.lane.HeldSegment;
import dev.vamana.cuda.lane.Lease;
import dev.vamana.cuda.lists.ListBatches;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.search.WorkItem;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Walks that the calling thread launches and waits for itself, each with a kernel of its choice.
 * For questions whose answers are known; searches go through a {@link WalkLane}, which packs,
 * launches and reads in the same way. One thread at a time uses an instance, bound to the context.
 */
public final class DirectWalks implements AutoCloseable {

  private static final long STAGING_BYTES = 1L << 20;

  private final CudaDriver driver;
  private final StagingPool staging;
  private final ListBatches together;
  private final BatchCounters counters = new BatchCounters();

  /**
   * Pins a megabyte.
   *
   * @param account counts pinned memory in use by requests
   * @throws GpuException if anything fails; all resources have been freed then
   */
  public DirectWalks(CudaDriver driver, SessionHostMemory account) {
    this.driver = driver;
    this.staging = new StagingPool(driver, STAGING_BYTES, account);
    this.together = new ListBatches(driver);
  }

  /**
   * Walks items of one segment in one launch.
   *
   * @param items items that differ only in their query
   * @param segment their segment; it stays held
   * @param tuning the kernel
   * @return one result per item
   * @throws GpuException with {@link GpuException.Kind#NOT_SUPPORTED} if no kernel takes the items
   *     or the chosen one does not fit the device
   */
  public List<DeviceResult> walk(List<WorkItem> items, ResidentSegment segment, Tuning tuning)
      throws IOException {
    HeldSegment held = new HeldSegment(new Lease(segment.view()), segment);
    ItemPlan plan = ItemPlan.of(items.get(0), held);
    if (plan == null) {
      throw new GpuException(GpuException.Kind.NOT_SUPPORTED, "no kernel takes the items");
    }
    ItemPlan[] plans = new ItemPlan[items.size()];
    Arrays.fill(plans, plan);
    PackTeam nobody = new PackTeam(0);
    Packer packer = new Packer(staging, nobody, items, plans, items.size(), items.size());
    LaunchSlot slot =
        new LaunchSlot(
            driver,
            new Kernels(driver, tuning),
            together,
            staging,
            DeviceBudget.UNLIMITED,
            items.size(),
            counters);
    List<DeviceResult> results = new ArrayList<>();
    try {
      Chunk chunk =
          packer.pack(plan.shape(), IntStream.range(0, items.size()).toArray(), 0, items.size());
      if (chunk == null) {
        throw new GpuException(
            GpuException.Kind.OUT_OF_MEMORY, "the items do not fit " + STAGING_BYTES + " bytes");
      }
      slot.launch(plan.shape(), List.of(chunk), items.size(), 0);
      slot.recover();
      for (int i = 0; i < items.size(); i++) {
        results.add(chunk.result(i));
      }
      chunk.free();
    } catch (Throwable e) {
      packer.close();
      // a context that fails here as well is closed
      Cleanup.after(e, slot::recover, slot::free);
      throw e;
    }
    packer.close();
    slot.free();
    return results;
  }

  /** Frees everything. */
  @Override
  public void close() {
    Cleanup.all(together::close, staging::free);
  }
}
