package dev.vamana.examples;

import com.sun.management.OperatingSystemMXBean;
import dev.vamana.cuda.GpuExecutor;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.search.BatchedKnn;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;

/** Searches the index of {@link CpuSearch} on the GPU, or on the CPU where there is no GPU. */
public final class GpuSearch {

  public static void main(String[] arguments) throws Exception {
    DeviceProbe probe = new DeviceProbe(0);
    System.out.println(probe.result().description());
    run(Path.of(arguments[0]), probe::open);
  }

  static TopDocs[] run(Path folder, Supplier<CudaDriver> device) throws Exception {
    int threads = Runtime.getRuntime().availableProcessors();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    // closed in the opposite order: reader, executor, directory, pool
    try (Directory directory = FSDirectory.open(folder);
        ExecutorRegistry.Installation gpu = install(device, new Workers(pool, threads));
        DirectoryReader reader = DirectoryReader.open(directory)) {
      if (gpu != null) {
        warm(gpu.executor(), reader, "embedding");
      }
      TopDocs[] answers = search(new IndexSearcher(reader, pool));
      if (gpu != null && gpu.executor() instanceof GpuExecutor executor) {
        print(executor.statistics());
      }
      return answers;
    } finally {
      pool.shutdown();
    }
  }

  /** Makes all readers of this process search on the GPU. Returns null if no GPU can be used. */
  static ExecutorRegistry.Installation install(Supplier<CudaDriver> device, Workers workers) {
    OperatingSystemMXBean system =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    ResidencyOptions residency =
        ResidencyOptions.defaults(system.getTotalMemorySize())
            .withLimits(MemoryLimit.percent(80), MemoryLimit.percent(25));
    GpuOptions options = GpuOptions.DEFAULT.withWorkers(workers);
    try {
      return ExecutorRegistry.install(
          () -> GpuExecutor.open(device, residency, options, new LoggingListener()));
    } catch (GpuException | LinkageError e) {
      System.out.println("The CPU searches: " + e.getMessage());
      return null;
    }
  }

  /** Brings the segments of a reader to the device and waits until they are there. */
  static void warm(SearchExecutor executor, DirectoryReader reader, String field)
      throws InterruptedException {
    List<SegmentView> segments = new ArrayList<>();
    for (LeafReaderContext leaf : reader.leaves()) {
      SegmentView segment = SegmentViews.of(leaf.reader(), field);
      if (segment != null && segment.hasGraph()) {
        executor.warm(segment);
        segments.add(segment);
      }
    }
    for (SegmentView segment : segments) {
      DevicePresence presence = executor.presence(segment);
      while (presence.state() == DevicePresence.State.WAITING) {
        Thread.sleep(10);
        presence = executor.presence(segment);
      }
      String where =
          presence.state() == DevicePresence.State.RESIDENT
              ? presence.placement() + ", " + presence.deviceBytes() + " bytes"
              : presence.reason();
      System.out.println(segment.name() + ": " + where);
    }
  }

  static TopDocs[] search(IndexSearcher searcher) throws IOException {
    Random random = new Random(8);
    float[][] queries = new float[100][];
    for (int i = 0; i < queries.length; i++) {
      queries[i] = CpuSearch.vector(random);
    }

    // one query: concurrent searches of other threads share its launch
    TopDocs one = searcher.search(new KnnFloatVectorQuery("embedding", queries[0], 10), 10);
    System.out.println("best score of the first query: " + one.scoreDocs[0].score);

    // many queries: one launch
    return new BatchedKnn(searcher).search("embedding", queries, 10, null);
  }

  static void print(GpuStatistics statistics) {
    System.out.println(
        statistics.usable()
            ? "device " + statistics.device().name()
            : "no device now: " + statistics.reason());
    System.out.println("asked for: " + statistics.counter("items", "requested"));
    System.out.println("by placement: " + statistics.counters().get("items_by_placement"));
    System.out.println("on the CPU: " + statistics.counters().get("items_on_cpu"));
  }
}
