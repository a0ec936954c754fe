package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.Residency;
import dev.vamana.cuda.memory.ResidencyCounters;
import dev.vamana.cuda.memory.ResidencyFactory;
import dev.vamana.cuda.memory.ResidencyListener;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.memory.SegmentResidency;
import dev.vamana.search.SegmentView;
import java.util.SortedMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.lucene.index.CorruptIndexException;

/** Opens a {@link GpuExecutor} for one device, with its own segment residency and threads. */
public final class GpuDevice {

  private GpuDevice() {}

  /**
   * Opens an executor.
   *
   * @param drivers opens a context, first now and again after each loss; for instance {@link
   *     dev.vamana.cuda.driver.DeviceProbe#open}
   * @param residency memory limits and placement of segments on the device
   * @throws GpuException if no context can be opened; the message of a probe names what was probed
   *     and found
   */
  public static GpuExecutor open(
      Supplier<CudaDriver> drivers,
      ResidencyOptions residency,
      GpuOptions options,
      GpuListener listener) {
    return GpuExecutor.open(
        options.withResidency(residency), drivers, new Residencies(listener), listener);
  }

  /** Opens the residency of each context. Counters continue across contexts. */
  private static final class Residencies implements ResidencyFactory {

    private final GpuListener listener;
    private final ResidencyCounters counters = new ResidencyCounters();

    Residencies(GpuListener listener) {
      this.listener = listener;
    }

    @Override
    public Residency open(
        CudaDriver driver, ResidencyOptions options, Consumer<GpuException> onLost) {
      ExecutorService uploads =
          Executors.newSingleThreadExecutor(
              task -> {
                Thread thread = new Thread(task, "vamana-gpu-upload");
                thread.setDaemon(true);
                return thread;
              });
      return new SegmentResidency(
          driver, options, uploads, uploads::shutdown, new Told(listener, onLost), counters);
    }

    @Override
    public SortedMap<String, Long> counters() {
      return counters.withoutContext();
    }
  }

  /** Passes the events of a residency on to the executor's listener. */
  private record Told(GpuListener listener, Consumer<GpuException> onLost)
      implements ResidencyListener {
    @Override
    public void refused(SegmentView view, GpuException reason) {
      listener.refused(view.name(), reason);
    }

    @Override
    public void failed(SegmentView view, Throwable reason) {
      if (reason instanceof GpuException e && e.contextLost()) {
        onLost.accept(e);
      } else if (reason instanceof CorruptIndexException e) {
        listener.damaged(view, e);
      } else {
        listener.uploadFailed(view.name(), reason);
      }
    }
  }
}
