package dev.vamana.tools.gpu;

import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import java.io.IOException;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Recall by beam width, to find the narrowest beam for a target recall.
 *
 * @param recalls recall@10 by beam width
 */
record BeamSweep(NavigableMap<Integer, Double> recalls) {

  static final double[] TARGETS = {0.95, 0.99};
  private static final int[] WIDTHS = {
    10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 36, 40, 48, 56, 64, 72, 80, 96, 112, 128, 160, 192, 224,
    256, 320, 384, 448, 512, 640, 768, 1024
  };
  private static final double ENOUGH = 0.9955;

  /** Searches the queries of a set. */
  interface Search {
    /** Returns the rows that each query finds with a beam. */
    int[][] hits(int beam) throws IOException, InterruptedException;
  }

  /** As {@link #run(Recall, Search)}, with walks or searches of lists. */
  static BeamSweep run(BatchRun run, VectorSet set, Lane lane)
      throws IOException, InterruptedException {
    return run(new Recall(set, run.k()), beam -> run.hits(lane.walk(beam)));
  }

  /** Measures the recall of ever wider beams, until it is above all targets or stops growing. */
  static BeamSweep run(Recall recall, Search search) throws IOException, InterruptedException {
    NavigableMap<Integer, Double> recalls = new TreeMap<>();
    double best = 0;
    int stale = 0;
    for (int width : WIDTHS) {
      double found = recall.of(search.hits(width));
      recalls.put(width, found);
      // the recall stops growing if few entries of a wide worklist are re-ranked
      stale = found < best + 0.0005 ? stale + 1 : 0;
      best = Math.max(best, found);
      if (found >= ENOUGH || stale == 4) {
        break;
      }
    }
    return new BeamSweep(recalls);
  }

  /** Returns the narrowest beams that reach the targets, without targets that none reaches. */
  Set<Integer> beams() {
    Set<Integer> beams = new TreeSet<>();
    for (double target : TARGETS) {
      beams.add(narrowest(target));
    }
    beams.remove(-1);
    return beams;
  }

  /** Returns the narrowest beam that reaches a recall, or -1. */
  int narrowest(double target) {
    for (Map.Entry<Integer, Double> entry : recalls.entrySet()) {
      if (entry.getValue() >= target) {
        return entry.getKey();
      }
    }
    return -1;
  }
}
