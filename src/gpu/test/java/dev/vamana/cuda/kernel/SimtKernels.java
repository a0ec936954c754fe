package dev.vamana.cuda.kernel;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import dev.vamana.cuda.driver.SimulatedKernels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The shipped kernels on the CPU, each thread of a launch as a fiber of its own
 * (native-kernels/host/simt). Blocks of kernels that search make progress side by side in a random
 * order, or one after the other; blocks of all other kernels run one after the other.
 */
public final class SimtKernels implements SimulatedKernels {

  /** Most blocks of kernels whose blocks take from the same items until none is left. */
  private static final int MOST_BLOCKS = 3;

  /** Functions of the library. */
  private interface SimtLibrary extends Library {
    int vamana_simt_has_kernel(String name);

    String vamana_simt_launch(
        String name,
        Pointer parameters,
        int bytes,
        int blocks,
        int threads,
        int sharedBytes,
        long seed,
        int oneByOne);
  }

  private final HostKernels host;
  private final SimtLibrary fibers;
  private final Random random;
  private final boolean oneByOne;
  private final AtomicInteger launches = new AtomicInteger();

  private SimtKernels(HostKernels host, SimtLibrary fibers, long seed, boolean oneByOne) {
    this.host = host;
    this.fibers = fibers;
    this.random = new Random(seed);
    this.oneByOne = oneByOne;
  }

  /**
   * Loads them; tests are skipped where loading {@link HostKernels} skips them.
   *
   * @param seed decides which threads run when
   * @param oneByOne whether each block begins when the one before has ended
   */
  public static SimtKernels load(long seed, boolean oneByOne) {
    return of(HostKernels.load(), file(), seed, oneByOne);
  }

  /** As {@link #load}, with the checks of launches. */
  static SimtKernels of(HostKernels checks, Path library, long seed, boolean oneByOne) {
    return new SimtKernels(
        checks, Native.load(library.toString(), SimtLibrary.class), seed, oneByOne);
  }

  /** Loads functions of the library of simulated threads. */
  static <T extends Library> T functions(Class<T> functions) {
    return Native.load(file().toString(), functions);
  }

  /** Returns the file of the library of simulated threads. */
  static Path file() {
    Path file = Path.of("target", "native", "libvamana-simt.so").toAbsolutePath();
    if (Files.exists(file) == false) {
      throw new AssertionError(file + " is missing: run native-kernels/build-host");
    }
    return file;
  }

  /** Returns how many launches simulated threads have carried out. */
  public int launches() {
    return launches.get();
  }

  @Override
  public Body find(String name) {
    if (fibers.vamana_simt_has_kernel(name) == 0) {
      return null;
    }
    boolean batch = name.startsWith("list_batch_");
    boolean searches = name.startsWith("walk_") || name.startsWith("list_search_");
    return (blocks, threads, sharedBytes, parameters) -> {
      host.check(name, threads, sharedBytes, parameters);
      launches.incrementAndGet();
      String wrong =
          fibers.vamana_simt_launch(
              name,
              HostLibrary.pointer(parameters),
              Math.toIntExact(parameters.byteSize()),
              batch ? Math.min(blocks, MOST_BLOCKS) : blocks,
              threads,
              sharedBytes,
              nextSeed(),
              batch || (searches && oneByOne == false) ? 0 : 1);
      if (wrong != null) {
        throw new IllegalStateException(name + ": " + wrong);
      }
    };
  }

  private synchronized long nextSeed() {
    return random.nextLong();
  }
}
