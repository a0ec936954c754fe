package dev.vamana.tools.gpu;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.codec.CodebookProvider;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Times the quantization part of a flush: reading the vectors from the file just written, training
 * on the usual sample, encoding, and writing codes. No graph is built.
 */
final class FlushTrial {

  private final Stage.Context context;
  private final SuiteSet set;
  private final int subspaces;

  FlushTrial(Stage.Context context, SuiteSet set, int subspaces) {
    this.context = context;
    this.set = set;
    this.subspaces = subspaces;
  }

  /**
   * Returns the milliseconds of flushes of the whole set, after one warm-up flush. Uses the
   * installed executor, if any.
   */
  double[] millis(int rounds) throws IOException {
    flush();
    double[] millis = new double[rounds];
    for (int i = 0; i < rounds; i++) {
      millis[i] = flush();
    }
    return millis;
  }

  private double flush() throws IOException {
    BuildStatistics statistics = new BuildStatistics();
    VamanaVectorsFormat format =
        new VamanaVectorsFormat(
            VamanaParameters.DEFAULT.withSubspaces(subspaces).withThresholds(Integer.MAX_VALUE, 0),
            context.workers(),
            CodebookProvider.NONE,
            statistics);
    Path folder = context.options().home().resolve("flush-trial");
    SetIndex.deleteTree(folder);
    Files.createDirectories(folder);
    SetIndex.write(folder, set, format, 1, 1);
    SetIndex.deleteTree(folder);
    BuildStatistics.Snapshot made = statistics.snapshot();
    if (made.quantizations() != 1) {
      throw new IllegalStateException(made.quantizations() + " segments instead of one");
    }
    return made.quantizationNanos() * 1e-6;
  }
}
