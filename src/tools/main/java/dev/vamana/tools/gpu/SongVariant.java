package dev.vamana.tools.gpu;

import java.util.ArrayList;
import java.util.List;

/**
 * A way to walk with SONG's structures, as a kernel of native-kernels/bench/song.cu does.
 *
 * @param lanes lanes of a warp that walk one query: 8, 16 or 32
 * @param visited the visited set
 * @param selected whether only nodes in the worklist are remembered
 * @param parents nodes that are expanded in a step, 1 to 8
 */
record SongVariant(int lanes, Visited visited, boolean selected, int parents) {

  static final int WARP = 32;

  /** Kinds of visited sets. */
  enum Visited {
    BUCKETS("this project's buckets", "buckets", 1, 1),
    OPEN("open addressing", "open", 2, 2),
    BLOOM("Bloom filter", "bloom", 0.5, 0.5),
    CUCKOO("Cuckoo filter", "cuckoo", 1, 1);

    private final String words;
    private final String kernel;
    private final double ofVisited;
    private final double ofBeam;

    Visited(String words, String kernel, double ofVisited, double ofBeam) {
      this.words = words;
      this.kernel = kernel;
      this.ofVisited = ofVisited;
      this.ofBeam = ofBeam;
    }
  }

  /** All sets by all numbers of lanes, and several steps at once by the lanes of a whole warp. */
  static List<SongVariant> all() {
    List<SongVariant> all = new ArrayList<>();
    for (int lanes : new int[] {8, 16, WARP}) {
      for (Visited visited : Visited.values()) {
        all.add(new SongVariant(lanes, visited, false, 1));
        if (visited != Visited.BUCKETS) {
          all.add(new SongVariant(lanes, visited, true, 1));
        }
      }
    }
    for (int parents : new int[] {2, 4, 8}) {
      for (int lanes : new int[] {8, WARP}) {
        all.add(new SongVariant(lanes, Visited.OPEN, true, parents));
        all.add(new SongVariant(lanes, Visited.BUCKETS, false, parents));
      }
    }
    return all;
  }

  /** Returns the kernel's name. */
  String kernel() {
    return "song_" + lanes + "_" + visited.kernel + (selected ? "_selected" : "");
  }

  /**
   * Returns the words of the visited set, a power of two.
   *
   * @param nodes nodes that a walk visits
   * @param beam length of the worklist
   */
  int words(double nodes, int beam) {
    double wanted = selected ? visited.ofBeam * 2 * beam : visited.ofVisited * nodes;
    return Math.max(64, Integer.highestOneBit((int) wanted * 2 - 1));
  }

  @Override
  public String toString() {
    return "SONG: "
        + visited.words
        + (selected ? ", selected insertion, " : ", ")
        + WARP / lanes
        + (lanes == WARP ? " query a warp, " : " queries a warp, ")
        + parents
        + (parents == 1 ? " node a step" : " nodes a step");
  }
}
