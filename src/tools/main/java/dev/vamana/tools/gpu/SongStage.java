package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.tools.datasets.Recall;
import java.io.IOException;

/**
 * Compares SONG's structures (Zhao, Tan and Li, 2020) with this project's walk: visited sets,
 * several queries a warp, several nodes a step, selected insertion. All walk the same graph with
 * the same worklist, compute the same distances, and are timed as launches without their calls.
 * This project's walk is the variant with buckets, a query a warp, one node a step.
 */
final class SongStage implements Stage {

  private static final int BEAM = 48;
  private static final int BATCH = 10_000;
  private static final int LAUNCHES = 5;
  private static final int LONE_LAUNCHES = 50;
  private static final String PLACEMENT = "launches";

  /** Nodes that a walk of this beam visits on the sets measured so far, and some more. */
  private static final double NODES = 2_048;

  private final String setName;

  SongStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    try (SetIndex index = BenchStage.index(context, set)) {
      float[][] pool = QueryPool.of(set.vectors(), index.view(), BATCH);
      try (CudaDriver driver = context.driver().get();
          SongWalks walks =
              new SongWalks(driver, set.vectors(), index.view(), pool, BenchStage.K)) {
        for (SongVariant variant : SongVariant.all()) {
          measure(context, set, walks, variant);
        }
      }
    }
  }

  private static void measure(Context context, SuiteSet set, SongWalks walks, SongVariant variant)
      throws IOException {
    int blocks = walks.prepare(variant, BEAM, NODES, BATCH);
    if (blocks == 0) {
      context.say("%s: more shared memory than a block may have", variant);
      return;
    }
    int own = set.vectors().queries().size();
    walks.walk(variant, blocks);
    double[] times = new double[LAUNCHES];
    for (int i = 0; i < LAUNCHES; i++) {
      times[i] = walks.walk(variant, blocks);
    }
    walks.fetch();
    double recall = new Recall(set.vectors(), BenchStage.K).of(walks.hits(own));
    double[] lone = new double[LONE_LAUNCHES];
    int block = walks.prepare(variant, BEAM, NODES, 1);
    for (int i = 0; i < LONE_LAUNCHES; i++) {
      lone[i] = walks.walk(variant, block);
    }
    context.say("distances %.2f, steps %.2f", walks.mean(0, own), walks.mean(1, own));
    context.searched(set.subject(), variant.toString(), PLACEMENT, BATCH, 1, recall, times);
    context.searched(set.subject(), variant.toString(), PLACEMENT, 1, 1, recall, lone);
  }
}
