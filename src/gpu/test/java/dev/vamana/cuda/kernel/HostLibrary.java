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
 * The arithmetic of the kernels, compiled for the host (native-kernels/host). Test classes that
 * load it have to name {@link CleanerThread} in {@code @ThreadLeakFilters}.
 */
public interface HostLibrary extends Library {

  /** Whether it is there. */
  static boolean built() {
    return Files.exists(Path.of("target", "native", "libvamana-host.so"));
  }

  /** Loads the library; tests are skipped if there was no compiler to make it. */
  static HostLibrary load() {
    Path folder = Path.of("target", "native");
    Assume.assumeFalse(
        "no g++ when the host library was to be built", Files.exists(folder.resolve("no-g++")));
    Path library = folder.resolve("libvamana-host.so").toAbsolutePath();
    if (Files.exists(library) == false) {
      throw new AssertionError(library + " is missing: run native-kernels/build-host");
    }
    return load(library);
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

  int vamana_key_ordinal(long key);

  float vamana_key_distance(long key);

  int vamana_visited_bucket(int ordinal, int slots);

  /** Nodes that are added together. */
  int VISITED_ROW = 128;

  void vamana_visit(int[] slots, int slotCount, int[] ordinals, int count, byte[] added);

  float vamana_query_step(float largest);

  float vamana_query_component(float component, float step);

  int vamana_to_half(float value);

  float vamana_half_value(int half);

  float vamana_fixed_scale(float range);

  int vamana_subspace_offset(int dimension, int subspaces, int subspace);

  float vamana_score(int similarity, int dimension, float[] query, float[] vector);

  float vamana_byte_score(int similarity, int dimension, byte[] query, byte[] vector);

  void vamana_table(
      int similarity,
      int dimension,
      int subspaces,
      float[] columns,
      float[] norms,
      float[] query,
      int halves,
      float[] table);

  float vamana_code_sum(float[] table, byte[] code, int subspaces);

  void vamana_sort_in_registers(long[] keys, int count);

  void vamana_sort_in_shared(long[] keys, int count);

  int vamana_merge(long[] list, int size, int capacity, long[] keys, int count);

  int vamana_merge_by_counting(long[] list, int size, int capacity, long[] keys, int count);

  void vamana_shared_layout(int policy, Pointer walk, int[] offsets);

  int vamana_fetch_shared_bytes(int kernel, int capacity, int dimension);

  long vamana_select_scratch_bytes(int kind, int rows, int partitions, int k);

  long vamana_scratch_bytes(int policy, Pointer walk);

  int vamana_list_shared_bytes(Pointer search, int waves, int codes);

  long vamana_list_scratch_bytes(Pointer search, int waves, int codes);

  long vamana_list_batch_bytes(Pointer batch, int part);

  int vamana_host_has_kernel(String name);

  String vamana_host_launch(String name, Pointer parameters);
}
