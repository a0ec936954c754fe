package dev.vamana.cuda.build;

import dev.vamana.cuda.batch.Kernels;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.BuildLayouts.BuildLayout;
import dev.vamana.cuda.kernel.BuildSizes;
import dev.vamana.cuda.kernel.ChunkSizes;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.kernel.WalkLayouts.WalkLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Launches the kernels of one build in its stream. For one thread, bound to the context. {@link
 * DeviceBuild} and {@link SearchTree} call it.
 */
final class BuildKernels implements AutoCloseable {

  private static final int WARP = 32;
  private static final int THREADS = 256;

  // blocks of a kernel whose threads take one element after the other
  private static final int MOST_STRIDING_BLOCKS = 4096;

  // As many blocks of one warp as keep a multiprocessor busy. With fewer, several warps share a
  // node.
  private static final int BUSY_BLOCKS = 16;

  // blocks that take one row after the other, for each multiprocessor: of one warp where edges are
  // appended, of several where rows are pruned
  private static final int APPENDING_BLOCKS = 64;
  private static final int MERGING_BLOCKS = 16;
  private static final int MERGING_WARPS = 4;

  // The same while searches come. A block of an urgent stream starts when one multiprocessor has
  // room for it, so blocks must end soon: more of them, and one walk each.
  private static final int BLOCKS_BESIDE_SEARCHES = 1024;

  // Walks that a multiprocessor has at once while searches come, each by a block of several warps.
  private static final int WALKS_BESIDE_SEARCHES = 4;

  private final CudaDriver driver;
  private final BuildPlan plan;
  private final BuildMemory memory;
  private final long stream;
  private final Kernels walks;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment build = arena.allocate(BuildLayout.BYTES, Long.BYTES);
  private final MemorySegment walk = arena.allocate(WalkLayout.BYTES, Long.BYTES);
  private final RecentSearches searches;
  private boolean besideSearches;

  BuildKernels(
      CudaDriver driver, BuildPlan plan, BuildMemory memory, long stream, RecentSearches searches) {
    this.searches = searches;
    this.driver = driver;
    this.plan = plan;
    this.memory = memory;
    this.stream = stream;
    this.walks = new Kernels(driver, Tuning.DEFAULT);
    set(BuildLayout.SEGMENT, memory.segment);
    set(BuildLayout.VECTORS, memory.vectors);
    set(BuildLayout.GRAPH, memory.graph);
    set(BuildLayout.ITEMS, memory.items);
    set(BuildLayout.ADDRESSES, memory.addresses);
    set(BuildLayout.COUNTERS, memory.counters);
    set(BuildLayout.ARRIVALS, memory.arrivals);
    set(BuildLayout.STARTS, memory.starts);
    set(BuildLayout.RUNS, memory.runs);
    set(BuildLayout.SOURCES, memory.sources);
    set(BuildLayout.INVERSE_NORMS, memory.inverseNorms);
    set(BuildLayout.SIZE, plan.size());
    set(BuildLayout.DIMENSION, plan.dimension());
    set(BuildLayout.VECTOR_STRIDE, plan.vectorStride());
    set(BuildLayout.GRAPH_STRIDE, plan.stride());
    set(BuildLayout.MAX_DEGREE, plan.maxDegree());
    set(BuildLayout.SLOTS, plan.slots());
    set(BuildLayout.PARENTS, BuildPlan.PARENTS);
    walk.set(ValueLayout.JAVA_LONG, WalkLayout.ITEMS, memory.addresses);
    walk.set(ValueLayout.JAVA_LONG, WalkLayout.COUNTER, memory.counters);
    walk.set(ValueLayout.JAVA_INT, WalkLayout.DIMENSION, plan.dimension());
  }

  private void set(long field, long address) {
    build.set(ValueLayout.JAVA_LONG, field, address);
  }

  private void set(long field, int value) {
    build.set(ValueLayout.JAVA_INT, field, value);
  }

  /**
   * Inserts a batch of nodes: searches for each, chooses its neighbours, and adds the edges back.
   *
   * @param from place of the first node in the order of the pass
   * @param beam nodes that a search keeps
   * @param alpha factor of robust prune
   */
  void insert(int from, int count, int beam, float alpha) {
    besideSearches = searches.any();
    set(BuildLayout.BEAM, beam);
    build.set(ValueLayout.JAVA_FLOAT, BuildLayout.ALPHA, alpha);
    set(BuildLayout.NODES, memory.nodes + (long) from * Integer.BYTES);
    set(BuildLayout.FOUND, memory.found);
    set(BuildLayout.COUNT, count);
    launch("build_items", (count + THREADS - 1) / THREADS, THREADS, 0);
    walk(count, plan.walkSizes(beam));
    choose(count, plan.candidates(beam));
    int striding = striding((long) count * plan.maxDegree());
    launch("build_count", striding, THREADS, 0);
    launch("build_place", striding, THREADS, 0);
    launch("build_scatter", striding, THREADS, 0);
    long touched = Math.min(plan.size(), (long) count * plan.maxDegree());
    rows("build_append", touched, APPENDING_BLOCKS, WARP, BuildSizes.CHUNK);
    String merge = plan.products() ? "build_merge_products" : "build_merge";
    rows(merge, touched, MERGING_BLOCKS, MERGING_WARPS * WARP, plan.mergeCandidates());
  }

  /**
   * Launches blocks that take one row after the other.
   *
   * @param rows most rows that there may be
   * @param blocks most blocks for each multiprocessor, if no search comes
   */
  private void rows(String name, long rows, int blocks, int threads, int candidates) {
    long most = (besideSearches ? BLOCKS_BESIDE_SEARCHES : blocks) * (long) multiprocessors();
    set(BuildLayout.CANDIDATES, candidates);
    int shared = BuildSizes.sharedBytes(plan.dimension(), candidates);
    launch(name, (int) Math.min(rows, most), threads, shared);
  }

  /** Computes the inverse norms of all vectors. */
  void norms() {
    set(BuildLayout.FIRST, 0);
    set(BuildLayout.COUNT, plan.size());
    int together = THREADS / WARP;
    launch("build_norms", (plan.size() + together - 1) / together, THREADS, 0);
  }

  /**
   * Prunes the rows of nodes {@code first} to {@code first + count - 1}.
   *
   * @param alpha factor of robust prune
   */
  void trim(int first, int count, float alpha) {
    besideSearches = searches.any();
    build.set(ValueLayout.JAVA_FLOAT, BuildLayout.ALPHA, alpha);
    set(BuildLayout.NODES, 0L);
    set(BuildLayout.FOUND, 0L);
    set(BuildLayout.FIRST, first);
    set(BuildLayout.COUNT, count);
    choose(count, plan.candidates(0));
  }

  /** Reaches the neighbours of the nodes of a level. */
  void reach(int level) {
    set(BuildLayout.FIRST, level);
    launch("build_reach", (plan.size() + THREADS - 1) / THREADS, THREADS, 0);
  }

  private void walk(int count, ChunkSizes sizes) {
    int together =
        besideSearches ? Math.min(count, WALKS_BESIDE_SEARCHES * multiprocessors()) : count;
    Kernels.Choice choice = walks.choose(plan.shape(), sizes, together, 0);
    walk.set(ValueLayout.JAVA_INT, WalkLayout.LIST_CAPACITY, sizes.beam());
    walk.set(ValueLayout.JAVA_INT, WalkLayout.FRESH_CAPACITY, sizes.fresh());
    walk.set(ValueLayout.JAVA_INT, WalkLayout.COUNT, count);
    walk.set(ValueLayout.JAVA_INT, WalkLayout.VISITED_SLOTS, choice.slots());
    driver.launch(
        choice.kernel(),
        besideSearches ? count : choice.blocks(),
        choice.threads(),
        choice.sharedBytes(),
        walk,
        stream);
  }

  private void choose(int count, int candidates) {
    int warps = warps(count);
    set(BuildLayout.CANDIDATES, candidates);
    int shared = BuildSizes.sharedBytes(plan.dimension(), candidates);
    String name = plan.products() ? "build_choose_products_w" : "build_choose_w";
    launch(name + warps, count, warps * WARP, shared);
  }

  private int multiprocessors() {
    return driver.device().multiprocessors();
  }

  private int warps(int nodes) {
    boolean busy = nodes >= BUSY_BLOCKS * multiprocessors();
    return busy && besideSearches == false ? 1 : 4;
  }

  private static int striding(long elements) {
    return (int) Math.min(MOST_STRIDING_BLOCKS, (elements + THREADS - 1) / THREADS);
  }

  private void launch(String name, int blocks, int threads, int shared) {
    driver.launch(driver.kernel(name), blocks, threads, shared, build, stream);
  }

  /** Frees the parameters. */
  @Override
  public void close() {
    arena.close();
  }
}
