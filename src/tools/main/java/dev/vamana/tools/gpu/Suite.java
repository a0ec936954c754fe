package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.tools.figures.Figures;
import dev.vamana.tools.figures.Machine;
import dev.vamana.tools.figures.Page;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Runs one stage of the suite in this process. */
public final class Suite {

  private static final List<String> CORRECTNESS =
      List.of(
          "dev.vamana.cuda.WalkParityTests",
          "dev.vamana.cuda.LimitedWalkTests",
          "dev.vamana.cuda.RealSetParityTests",
          "dev.vamana.cuda.ByteVectorTests",
          "dev.vamana.cuda.ListParityTests",
          "dev.vamana.cuda.ListBatchTests",
          "dev.vamana.cuda.select.SelectionTests",
          "dev.vamana.cuda.exact.ExactScansTests",
          "dev.vamana.cuda.ExactPlanTests",
          "dev.vamana.cuda.ExactPlanFaultTests",
          "dev.vamana.cuda.SmallSegmentsTests",
          "dev.vamana.cuda.WideVectorTests",
          "dev.vamana.cuda.TrainingParityTests",
          "dev.vamana.cuda.GraphBuildParityTests",
          "dev.vamana.cuda.build.LargeOffsetsTests",
          "dev.vamana.codec.DeviceConformanceTests");

  /**
   * Number of parts of the correctness tests. Parts run in parallel, because each compares walks on
   * one thread.
   */
  private static final int CORRECTNESS_PARTS = 4;

  private static final int[] LARGE_MILLIONS = {1, 2, 5, 10, 20, 50, 100};

  private Suite() {}

  /** Arguments as of {@link SuiteOptions#parse}. Exits with status 2 if they are wrong. */
  public static void main(String[] arguments) throws Exception {
    SuiteOptions options;
    Stage stage;
    try {
      options = SuiteOptions.parse(arguments);
      stage = stages().get(options.stage());
      if (stage == null) {
        throw new IllegalArgumentException(
            "stage '" + options.stage() + "' is unknown, allowed are " + stages().keySet());
      }
    } catch (IllegalArgumentException e) {
      System.err.println("gpu-suite: " + e.getMessage());
      System.exit(2);
      return;
    }
    run(options, stage);
  }

  private static void run(SuiteOptions options, Stage stage)
      throws IOException, InterruptedException {
    Path commit = options.home().resolve("code").resolve("commit");
    DeviceProbe.Result device =
        options.device() < 0 ? null : new DeviceProbe(options.device()).result();
    Figures figures =
        new Figures(
            options.home().resolve("report"),
            Files.exists(commit) ? Files.readString(commit).strip() : Figures.commitOf(Path.of("")),
            device != null && device.usable() ? device.device().name() : Machine.processor());
    ExecutorService pool =
        Executors.newFixedThreadPool(
            Math.max(1, Runtime.getRuntime().availableProcessors() - 1),
            Thread.ofPlatform().daemon().name("suite").factory());
    try {
      Workers workers = new Workers(pool, Runtime.getRuntime().availableProcessors());
      stage.run(Stage.Context.of(options, figures, workers));
    } finally {
      pool.shutdownNow();
    }
  }

  private static Map<String, Stage> stages() {
    Map<String, Stage> stages = new TreeMap<>();
    for (String set : SuiteSet.NAMES.keySet()) {
      stages.put("cells-" + set, new NodeStage(set, NodeStage.Kinds.CELLS));
      stages.put("stock-cells-" + set, new NodeStage(set, NodeStage.Kinds.STOCK_CELLS));
      stages.put("node-batch-" + set, new NodeStage(set, NodeStage.Kinds.BATCH));
      stages.put("node-drivers-" + set, new NodeStage(set, NodeStage.Kinds.DRIVERS));
      stages.put("node-nrt-" + set, new NodeStage(set, NodeStage.Kinds.NRT));
      stages.put("build-" + set, new BuildStage(set));
      stages.put("bench-" + set, new BenchStage(set, BenchStage.Kind.GRAPH));
      stages.put("lists-" + set, new BenchStage(set, BenchStage.Kind.LISTS));
      stages.put("stock-" + set, new BenchStage(set, BenchStage.Kind.STOCK));
      stages.put("lucene-" + set, new LuceneStage(set));
      stages.put("devices-" + set, new DevicesStage(set, BenchStage.Kind.GRAPH));
      stages.put("list-devices-" + set, new DevicesStage(set, BenchStage.Kind.LISTS));
      stages.put("stock-devices-" + set, new DevicesStage(set, BenchStage.Kind.STOCK));
      stages.put("song-" + set, new SongStage(set));
      stages.put("exact-" + set, new ExactStage(set));
      stages.put("filters-" + set, new FilterStage(set));
    }
    for (int millions : LARGE_MILLIONS) {
      for (boolean lists : new boolean[] {false, true}) {
        String name = (lists ? "lists-large-" : "large-") + millions + "m";
        stages.put(name, new LargeStage(millions * 1_000_000, lists));
      }
    }
    stages.put("correctness", new TestStage(CORRECTNESS));
    for (int part = 0; part < CORRECTNESS_PARTS; part++) {
      stages.put("correctness-" + part, new TestStage(CORRECTNESS, part, CORRECTNESS_PARTS));
    }
    stages.put("lifecycle", new TestStage(List.of("dev.vamana.cuda.DeviceLifecycleTests")));
    stages.put(
        "faults",
        new TestStage(
            List.of(
                "dev.vamana.cuda.driver.JcudaDriverTests", "dev.vamana.cuda.DeviceFaultTests")));
    stages.put(
        "sanitizer",
        new SanitizerStage(
            List.of(
                "dev.vamana.cuda.SanitizedWalkTests",
                "dev.vamana.cuda.SanitizedBuildTests",
                "dev.vamana.cuda.SanitizedListTests")));
    stages.put("trap", new TestStage(List.of("dev.vamana.cuda.DeviceTrapTests")));
    stages.put("smoke", new SmokeStage());
    stages.put("report", context -> Page.write(context.figures().folder()));
    return stages;
  }
}
