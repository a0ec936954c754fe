package dev.vamana.tools.gpu;

import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import java.io.IOException;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.DoubleStream;

/**
 * Recall by beam width, to find the narrowest beam for a target recall.
 *
 * @param recalls recall@10 by beam width
 */
record BeamSweep(NavigableMap<Integer, Double> recalls) {

  private static final double[] TARGETS = {0.95, 0.99};
  private static final int[] WIDTHS = {
    10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 36, 40, 48, 56, 64, 72, 80, 96, 112, 128, 160, 192, 224,
    256, 320, 384, 448, 512, 640, 768, 1024
  };

  /** Recall above all targets. */
  static final double ENOUGH = 0.9955;

  /** Searches the queries of a set. */
  interface Search {
    /** Returns the recall@10 with a beam. */
    double recall(int beam) throws IOException;
  }

  /** Measures walks or searches of lists, up to {@link #ENOUGH}. */
  static BeamSweep run(BatchRun run, VectorSet set, Lane lane) throws IOException {
    Recall recall = new Recall(set, run.k());
    return run(ENOUGH, beam -> recall.of(run.hits(lane.walk(beam))));
  }

  /** Measures the recall of ever wider beams, until it is enough or stops growing. */
  static BeamSweep run(double enough, Search search) throws IOException {
    NavigableMap<Integer, Double> recalls = new TreeMap<>();
    double best = 0;
    int stale = 0;
    for (int width : WIDTHS) {
      double found = search.recall(width);
      recalls.put(width, found);
      // the recall stops growing if few entries of a wide worklist are re-ranked
      stale = found < best + 0.0005 ? stale + 1 : 0;
      best = Math.max(best, found);
      if (found >= enough || stale == 4) {
        break;
      }
    }
    return new BeamSweep(recalls);
  }

  /** Returns the narrowest beams that reach the targets, without targets that none reaches. */
  Set<Integer> beams() {
    Set<Integer> beams = new TreeSet<>();
    DoubleStream.of(TARGETS).mapToObj(this::narrowest).filter(Objects::nonNull).forEach(beams::add);
    return beams;
  }

  /** Returns the narrowest beam that reaches a recall, or null. */
  Integer narrowest(double target) {
    return recalls.keySet().stream()
        .filter(beam -> recalls.get(beam) >= target)
        .findFirst()
        .orElse(null);
  }
}
