package dev.vamana.cuda.kernel;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import com.sun.jna.Library;
import com.sun.jna.Native;
import java.util.List;
import org.apache.lucene.tests.util.LuceneTestCase;

/**
 * Simulated threads find accesses of shared memory that no barrier puts in order
 * (native-kernels/host/simt/races.h), whatever order they happen to run in. Every test with {@link
 * SimtKernels} relies on that.
 */
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // native libraries keep threads of their own
public class RacesTests extends LuceneTestCase {

  /** Two warps read what others have written, count, or write to one word. */
  private static final List<String> RACES =
      List.of(
          "other warp",
          "other warp, __syncwarp",
          "next lane",
          "next lane, vote",
          "pair, late",
          "overwrite",
          "count",
          "same value");

  private static final List<String> IN_ORDER =
      List.of(
          "other warp, barrier",
          "next lane, __syncwarp",
          "next lane, barrier",
          "pair",
          "overwrite, barrier",
          "count, barrier",
          "exchange",
          "bytes of a word");

  /** Functions of the library. */
  private interface SimtLibrary extends Library {
    String vamana_simt_sample(String name, long seed);
  }

  private static String run(String sample) {
    return Native.load(HostLibrary.file().toString(), SimtLibrary.class)
        .vamana_simt_sample(sample, random().nextLong());
  }

  public void testRacesAreFound() {
    for (String sample : RACES) {
      String wrong = run(sample);
      assertNotNull(sample, wrong);
      assertTrue(sample + ": " + wrong, wrong.startsWith("a race in word "));
    }
  }

  public void testOrderedAccessesAreNoRaces() {
    for (String sample : IN_ORDER) {
      assertNull(sample, run(sample));
    }
  }
}
