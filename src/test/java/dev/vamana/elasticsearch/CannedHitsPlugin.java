package dev.vamana.elasticsearch;

import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.elasticsearch.gpu.GpuDevices;
import dev.vamana.elasticsearch.gpu.GpuMode;
import dev.vamana.elasticsearch.gpu.GpuSettings;
import dev.vamana.elasticsearch.monitor.DamagedFiles;
import dev.vamana.elasticsearch.monitor.stats.DeviceStats;
import dev.vamana.elasticsearch.monitor.stats.GpuStats;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.Workers;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import org.elasticsearch.common.settings.Settings;

/**
 * Our plugin with an executor that answers at once, with hits drawn at random. What a batched
 * search then costs is everything but the search; see {@link HttpCost}.
 */
public final class CannedHitsPlugin extends ForwardingPlugin {

  /** Called by the node. */
  public CannedHitsPlugin(Settings settings) {
    super(new VamanaPlugin(settings, environment -> new CannedDevices()));
  }

  private static final class CannedDevices implements GpuDevices {
    @Override
    public SearchExecutor open(
        GpuSettings settings, DamagedFiles damaged, HostMemoryAccount account, Workers workers) {
      return new CannedExecutor();
    }

    @Override
    public void adjust(SearchExecutor executor, GpuSettings settings) {}

    @Override
    public GpuStats stats(SearchExecutor executor, GpuMode mode) {
      return GpuStats.without(mode.settingName(), GpuStats.State.UNAVAILABLE, "canned hits");
    }

    @Override
    public List<DeviceStats> devices(SearchExecutor executor) {
      return List.of();
    }

    @Override
    public void close() {}
  }

  private static final class CannedExecutor implements SearchExecutor {
    @Override
    public String name() {
      return "canned hits";
    }

    @Override
    public List<WorkResult> search(List<WorkItem> batch) {
      SplittableRandom random = new SplittableRandom(ThreadLocalRandom.current().nextLong());
      List<WorkResult> results = new ArrayList<>(batch.size());
      for (WorkItem item : batch) {
        int[] ordinals = new int[Math.min(item.k(), item.segment().size())];
        float[] scores = new float[ordinals.length];
        float score = 1;
        for (int i = 0; i < ordinals.length; i++) {
          ordinals[i] = random.nextInt(item.segment().size());
          score *= 0.9f + 0.1f * (float) random.nextDouble();
          scores[i] = score;
        }
        results.add(new WorkResult(ordinals, scores, ordinals.length, true));
      }
      return results;
    }

    @Override
    public void close() {}
  }
}
