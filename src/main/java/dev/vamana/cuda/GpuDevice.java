package dev.vamana.cuda;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.Residency;
import dev.vamana.cuda.memory.ResidencyCounters;
import dev.vamana.cuda.memory.ResidencyListener;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.memory.ResidencyStats;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.cuda.memory.SegmentResidency;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import java.util.Locale;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
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
    return GpuExecutor.open(options, drivers, new Residencies(residency, listener), listener);
  }

  /** Opens the residency of each context. Counters continue across contexts. */
  private static final class Residencies implements ResidencyFactory {

    private final ResidencyOptions options;
    private final GpuListener listener;
    private final ResidencyCounters counters = new ResidencyCounters();

    Residencies(ResidencyOptions options, GpuListener listener) {
      this.options = options;
      this.listener = listener;
    }

    @Override
    public Residency open(CudaDriver driver, Consumer<GpuException> onLost) {
      return new OfContext(driver, options, counters, listener, onLost);
    }

    @Override
    public SortedMap<String, Long> counters() {
      return counted(counters.withoutContext());
    }
  }

  /** The residency of one context, with its upload thread. */
  private static final class OfContext implements Residency {

    private final ExecutorService uploads;
    private final SegmentResidency segments;

    OfContext(
        CudaDriver driver,
        ResidencyOptions options,
        ResidencyCounters counters,
        GpuListener gpuListener,
        Consumer<GpuException> onLost) {
      uploads =
          Executors.newSingleThreadExecutor(
              task -> {
                Thread thread = new Thread(task, "vamana-gpu-upload");
                thread.setDaemon(true);
                return thread;
              });
      segments =
          new SegmentResidency(
              () -> driver,
              options,
              uploads,
              new ResidencyListener() {
                @Override
                public void refused(SegmentView view, GpuException reason) {
                  gpuListener.refused(view.name(), reason);
                }

                @Override
                public void failed(SegmentView view, Throwable reason) {
                  if (reason instanceof GpuException e && e.contextLost()) {
                    onLost.accept(e);
                  } else if (reason instanceof CorruptIndexException e) {
                    gpuListener.damaged(view.name(), e);
                  } else {
                    gpuListener.uploadFailed(view.name(), reason);
                  }
                }
              },
              counters);
    }

    @Override
    public void opened(SegmentView view) {
      segments.opened(view);
    }

    @Override
    public void closing(SegmentView view) {
      segments.closing(view);
    }

    @Override
    public ResidentSegment acquire(SegmentView view) {
      return segments.acquire(view);
    }

    @Override
    public String absence(SegmentView view) {
      return segments.absence(view);
    }

    @Override
    public boolean arriving(SegmentView view) {
      return segments.arriving(view);
    }

    @Override
    public DevicePresence presence(SegmentView view) {
      return segments.presence(view);
    }

    @Override
    public void warm(SegmentView view) {
      segments.warm(view);
    }

    @Override
    public void keep(SegmentView view, boolean kept) {
      segments.keep(view, kept);
    }

    @Override
    public long evict(SegmentView view) {
      return segments.evict(view);
    }

    @Override
    public void adjust(MemoryLimit device, MemoryLimit pageCache, Set<Placement> placements) {
      segments.adjust(device, pageCache, placements);
    }

    @Override
    public boolean reserve(long bytes) {
      return segments.reserve(bytes);
    }

    @Override
    public void release(long bytes) {
      segments.release(bytes);
    }

    @Override
    public SortedMap<String, Long> counters() {
      return counted(segments.stats());
    }

    @Override
    public void abandon() {
      segments.abandon();
      uploads.shutdown();
    }

    @Override
    public void close() {
      segments.close();
      uploads.shutdown();
    }
  }

  private static SortedMap<String, Long> counted(ResidencyStats stats) {
    SortedMap<String, Long> counters = new TreeMap<>();
    counters.put("uploads", stats.uploads());
    counters.put("upload_bytes", stats.uploadBytes());
    counters.put("upload_nanos", stats.uploadNanos());
    counters.put("upload_failures", stats.failures());
    counters.put("evictions", stats.evictions());
    counters.put("hits", stats.hits());
    counters.put("segments_waiting", (long) stats.waiting());
    if (stats.deviceLimit() > 0) {
      counters.put("device_bytes", stats.deviceBytes());
      counters.put("device_limit_bytes", stats.deviceLimit());
      counters.put("page_cache_bytes", stats.pinnedBytes());
      counters.put("page_cache_limit_bytes", stats.pinnedLimit());
    }
    stats
        .misses()
        .forEach(
            (why, count) -> counters.put("misses_" + why.name().toLowerCase(Locale.ROOT), count));
    stats
        .segments()
        .forEach((how, count) -> counters.put("segments_" + how.settingName(), count.longValue()));
    stats.bytes().forEach((how, bytes) -> counters.put("bytes_" + how.settingName(), bytes));
    return counters;
  }
}
