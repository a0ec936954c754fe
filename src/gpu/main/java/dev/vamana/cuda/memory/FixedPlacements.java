package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.Cleanup;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.search.SegmentView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Uploads segments to placements that the caller chooses, outside of any residency. One thread at a
 * time uses an instance, bound to the context. Segments stay on the device until {@link #close}.
 */
public final class FixedPlacements implements AutoCloseable {

  private final DeviceMemory memory;
  private final List<Resident> residents = new ArrayList<>();

  /**
   * Makes an instance, which allocates nothing yet.
   *
   * @param deviceBytes most device memory of all segments
   */
  public FixedPlacements(CudaDriver driver, long deviceBytes) {
    this.memory = new DeviceMemory(driver, deviceBytes, 0);
  }

  /**
   * Uploads a segment. Raw vectors for re-ranking are on the device, except with {@link
   * Placement#HOST_FETCH}.
   *
   * @param placement any but {@link Placement#MAPPED_GRAPH}
   * @return a use of the segment, valid until {@link #close}
   * @throws GpuException if the device fails or has no room
   */
  public ResidentSegment place(SegmentView view, Placement placement) throws IOException {
    RawVectors raw = placement == Placement.HOST_FETCH ? RawVectors.CALLER : RawVectors.DEVICE;
    PlacementPlan plan = PlacementPlan.of(SegmentShape.of(view), placement, raw);
    if (memory.enter() == false) {
      throw new GpuException(GpuException.Kind.CONTEXT_LOST, "the context was given up");
    }
    try {
      Resident resident = new SegmentUpload(new Lease(view), plan, memory, () -> {}).run();
      residents.add(resident);
      return resident.use();
    } finally {
      memory.exit();
    }
  }

  /**
   * Frees all segments. Nothing may read them any more.
   *
   * @throws GpuException as a lost context if the driver does not give something back
   */
  @Override
  public void close() {
    List<Runnable> frees = new ArrayList<>();
    residents.forEach(resident -> frees.add(resident::free));
    frees.add(memory::freeBuffers);
    frees.add(memory::close);
    try {
      Cleanup.all(frees);
    } catch (GpuException e) {
      throw e.asLoss();
    }
  }
}
