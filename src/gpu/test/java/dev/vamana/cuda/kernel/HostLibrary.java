package dev.vamana.cuda.kernel;

import com.carrotsearch.randomizedtesting.ThreadFilter;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.Assume;

/**
 * Arithmetic and sizes of the kernels' headers, compiled for the host. Test classes that load it
 * have to name {@link CleanerThread} in {@code @ThreadLeakFilters}.
 */
public interface HostLibrary extends Library {

  /** Whether it is there. */
  static boolean built() {
    return Files.exists(Path.of("target", "native", "libvamana-host.so"));
  }

  /** Returns the library's file; tests are skipped if there was no compiler to make it. */
  static Path file() {
    Path folder = Path.of("target", "native");
    Assume.assumeFalse(
        "no g++ when the host library was to be built", Files.exists(folder.resolve("no-g++")));
    Path library = folder.resolve("libvamana-host.so").toAbsolutePath();
    if (Files.exists(library) == false) {
      throw new AssertionError(library + " is missing: run native-kernels/build-host");
    }
    return library;
  }

  /** Loads the library of {@link #file}. */
  static HostLibrary load() {
    return load(file());
  }

  /** Loads the library of this file. */
  static HostLibrary load(Path library) {
    return Native.load(library.toString(), HostLibrary.class);
  }

  /** Native memory as JNA takes it. */
  static Pointer pointer(MemorySegment segment) {
    return segment == null ? Pointer.NULL : new Pointer(segment.address());
  }

  /** JNA's thread, which ends by itself. */
  final class CleanerThread implements ThreadFilter {
    @Override
    public boolean reject(Thread thread) {
      return thread.getName().equals("JNA Cleaner");
    }
  }

  long vamana_constant(String name);

  long vamana_make_key(float distance, int ordinal);

  void vamana_shared_layout(int policy, Pointer walk, int[] offsets);

  int vamana_fetch_shared_bytes(int kernel, int capacity, int dimension);

  long vamana_scratch_bytes(int policy, Pointer walk);

  int vamana_list_shared_bytes(Pointer search, int waves, int codes);

  long vamana_list_scratch_bytes(Pointer search, int waves, int codes);

  long vamana_list_batch_bytes(Pointer batch, int part);
}
