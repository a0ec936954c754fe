package dev.vamana.cuda.memory;

import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Where a segment's graph, codes and vectors are during a search: a {@link Place} of the graph and
 * a {@link Precision} of distances. docs/internals/gpu.md compares the placements.
 */
public enum Placement {
  /** Vectors and graph on the device; walks compute exact distances (BANG, section 5.2). */
  EXACT(Place.DEVICE, Precision.FLOAT32),
  /**
   * As {@link #EXACT}, but walks read half-precision copies of the vectors, and hits are re-ranked.
   */
  EXACT_FLOAT16(Place.DEVICE, Precision.FLOAT16),
  /** As {@link #EXACT}, but walks read copies of one byte a component, and hits are re-ranked. */
  EXACT_INT8(Place.DEVICE, Precision.INT8),
  /** Codes and graph on the device; hits are re-ranked from the raw vectors (BANG, section 5.1). */
  IN_MEMORY(Place.DEVICE, Precision.PQ),
  /** Codes on the device; kernels read graph and raw vectors in place from the mapped files. */
  MAPPED_GRAPH(Place.MAPPED_GRAPH, Precision.PQ),
  /** Codes on the device; the CPU fetches the neighbours of every step (BANG base, section 3.2). */
  HOST_FETCH(Place.HOST_FETCH, Precision.PQ);

  /**
   * Fewest components of float vectors whose walks read {@link #EXACT_INT8} copies where the choice
   * is free and there is room for them beside the raw vectors. On an H200 such walks were 1.1 to
   * 2.0 times as fast as {@link #EXACT} at equal recall with 384 and 784 components, in every size
   * of batch, and not faster with 100 and 128, whose rows of float32 are 400 and 512 bytes
   * (docs/benchmarks/gpu.md). Nothing was measured between 128 and 384.
   */
  public static final int WIDE = 256;

  /** All placements, among which one is chosen for each segment. */
  public static final Set<Placement> ALL =
      Collections.unmodifiableSet(EnumSet.allOf(Placement.class));

  private final Place place;
  private final Precision precision;

  Placement(Place place, Precision precision) {
    this.place = place;
    this.precision = precision;
  }

  /** Returns the only choice, or {@link #ALL} if it is null. */
  public static Set<Placement> only(Placement forced) {
    return forced == null ? ALL : Set.of(forced);
  }

  /**
   * Returns the placements of a place and a precision, of which null stands for any. Empty if they
   * do not go together: walks over a graph outside of the device read codes.
   */
  public static Set<Placement> of(Place place, Precision precision) {
    return Arrays.stream(values())
        .filter(placement -> place == null || placement.place == place)
        .filter(placement -> precision == null || placement.precision == precision)
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Returns the placement with a name in settings, or null if there is none. */
  public static Placement named(String settingName) {
    return Arrays.stream(values())
        .filter(placement -> placement.settingName().equals(settingName))
        .findFirst()
        .orElse(null);
  }

  /**
   * Returns the placement that a segment with a graph over float vectors gets if all are allowed
   * and the device has ample room.
   *
   * @param dimension components of a vector
   */
  public static Placement usual(int dimension) {
    return dimension >= WIDE ? EXACT_INT8 : EXACT;
  }

  /** Returns where the graph is. */
  public Place place() {
    return place;
  }

  /** Returns what walks read. */
  public Precision precision() {
    return precision;
  }

  /** Returns the name in settings, for instance {@code mapped-graph}. */
  public String settingName() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
