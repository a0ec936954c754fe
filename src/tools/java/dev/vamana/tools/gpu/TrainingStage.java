package dev.vamana.tools.gpu;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.PqEncoder;
import dev.vamana.pq.PqEngine;
import dev.vamana.pq.PqTrainer;
import dev.vamana.pq.RowSource;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.pq.TrainingSample;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.work.AbortCheck;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Measures codebook training and encoding on the GPU, compared with the CPU on all processors.
 * Times are of calls from Java and include copies to the device.
 */
final class TrainingStage implements Stage {

  private static final String SET = "mnist";
  private static final int SUBSPACES = 98;
  private static final int SAMPLE = 50_000;
  private static final int TOGETHER = 32;
  private static final int CPU_ROUNDS = 5;
  private static final int GPU_ROUNDS = 11;
  private static final int FLUSH_ROUNDS = 3;

  /** The work to time. */
  private interface Timed {
    void run() throws IOException;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), SET);
    try (Gpu gpu = Gpu.open(Placement.EXACT)) {
      context.fragment().set("device", gpu.device());
      context.fragment().set("driver", gpu.driver());
      PqEngine engine = gpu.executor().quantizer();
      Codebook trained = train(context, set, engine, "default", PqTrainer.Options.defaults(42));
      train(context, set, engine, "20 iterations", new PqTrainer.Options(42, 20, 2, 0));
      encode(context, set, engine, trained);
      flush(context, set, gpu);
    }
  }

  private static Codebook train(
      Context context, SuiteSet set, PqEngine engine, String variant, PqTrainer.Options options)
      throws IOException {
    float[][] base = set.vectors().base().rows();
    int dims = set.vectors().dimension();
    TrainingSample sample =
        TrainingSample.of(dims, Arrays.copyOf(base, Math.min(SAMPLE, base.length)));
    SubspaceLayout layout = new SubspaceLayout(dims, SUBSPACES);
    float[][] found = new float[2][];
    double[] cpu =
        time(
            CPU_ROUNDS,
            () ->
                found[0] =
                    PqTrainer.train(
                            PqEngine.NONE,
                            sample,
                            layout,
                            CodebookId.random(),
                            options,
                            context.workers(),
                            AbortCheck.NEVER)
                        .centroids());
    double[] gpu =
        time(
            GPU_ROUNDS,
            () -> {
              float[] centroids =
                  engine.train(sample, layout, options, context.workers(), AbortCheck.NEVER);
              if (centroids == null) {
                throw new IllegalStateException("the GPU did not train");
              }
              if (found[1] != null && Arrays.equals(found[1], centroids) == false) {
                throw new IllegalStateException("the same seed gave other centroids");
              }
              found[1] = centroids;
            });
    Codebook ofCpu = new Codebook(CodebookId.random(), layout, found[0]);
    Codebook ofGpu = new Codebook(CodebookId.random(), layout, found[1]);
    Map<String, Object> row = row(set, "train a codebook", variant, sample.size(), cpu, gpu);
    row.put("error_cpu", ofCpu.quantizationError(sample, AbortCheck.NEVER));
    row.put("error_gpu", ofGpu.quantizationError(sample, AbortCheck.NEVER));
    add(context, row);
    return ofGpu;
  }

  private static void encode(Context context, SuiteSet set, PqEngine engine, Codebook codebook)
      throws IOException {
    float[][] base = set.vectors().base().rows();
    int dims = codebook.layout().dims();
    int length = codebook.layout().count();
    byte[] expected = new byte[base.length * length];
    byte[] actual = new byte[base.length * length];
    double[] cpu =
        time(
            CPU_ROUNDS,
            () ->
                context
                    .workers()
                    .forEachRange(
                        0,
                        base.length,
                        () -> {
                          PqEncoder encoder = new PqEncoder(codebook);
                          float[] rows = new float[TOGETHER * dims];
                          return (from, to) -> encode(encoder, base, rows, from, to, expected);
                        },
                        AbortCheck.NEVER));
    RowSource source = RowSource.of(base);
    double[] gpu =
        time(
            GPU_ROUNDS,
            () -> {
              try (PqEngine.Encoder encoder =
                  engine.encoder(codebook, base.length, context.workers(), AbortCheck.NEVER)) {
                if (encoder == null || encoder.encode(source, base.length, actual) == false) {
                  throw new IllegalStateException("the GPU did not encode");
                }
              }
            });
    int other = 0;
    for (int i = 0; i < expected.length; i++) {
      other += expected[i] == actual[i] ? 0 : 1;
    }
    Map<String, Object> row = row(set, "encode", "default", base.length, cpu, gpu);
    row.put("other_bytes", other);
    add(context, row);
  }

  private static void flush(Context context, SuiteSet set, Gpu gpu) throws IOException {
    FlushTrial trial = new FlushTrial(context, set, SUBSPACES);
    double[] cpu = trial.millis(FLUSH_ROUNDS);
    double[] onGpu;
    try (ExecutorRegistry.Installation installation = ExecutorRegistry.install(gpu::executor)) {
      if (installation.executor() != gpu.executor()) {
        throw new IllegalStateException("another executor is installed");
      }
      onGpu = trial.millis(FLUSH_ROUNDS);
    }
    add(context, row(set, "quantize a flush", "default", set.vectors().base().size(), cpu, onGpu));
  }

  private static void encode(
      PqEncoder encoder, float[][] base, float[] rows, int from, int to, byte[] codes) {
    int dims = base[0].length;
    int length = codes.length / base.length;
    for (int first = from; first < to; first += TOGETHER) {
      int count = Math.min(TOGETHER, to - first);
      for (int i = 0; i < count; i++) {
        System.arraycopy(base[first + i], 0, rows, i * dims, dims);
      }
      encoder.encodeBlock(rows, count, codes, first * length);
    }
  }

  /** Returns the milliseconds of each round, after one warm-up round. */
  private static double[] time(int rounds, Timed work) throws IOException {
    double[] millis = new double[rounds];
    for (int round = -1; round < rounds; round++) {
      long start = System.nanoTime();
      work.run();
      if (round >= 0) {
        millis[round] = (System.nanoTime() - start) * 1e-6;
      }
    }
    return millis;
  }

  private static Map<String, Object> row(
      SuiteSet set, String what, String variant, int vectors, double[] cpu, double[] gpu) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("what", what);
    row.put("set", set.vectors().name());
    row.put("variant", variant);
    row.put("vectors", vectors);
    row.put("dims", set.vectors().dimension());
    row.put("centroids", Codebook.CENTROIDS);
    row.put("cpu_threads", Runtime.getRuntime().availableProcessors());
    row.put("cpu_ms", Samples.round(Samples.median(cpu), 2));
    row.put("gpu_ms", Samples.round(Samples.median(gpu), 2));
    row.put("speedup", Samples.round(Samples.median(cpu) / Samples.median(gpu), 1));
    return row;
  }

  static void add(Context context, Map<String, Object> row) throws IOException {
    context.fragment().add("training", row);
    context.say("%s", row);
  }
}
