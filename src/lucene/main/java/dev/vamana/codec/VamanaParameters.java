package dev.vamana.codec;

import dev.vamana.graph.BuildParameters;
import dev.vamana.ivf.CodeKind;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.search.LabelGraphs;
import dev.vamana.vectors.ScalarCodes;
import java.util.Objects;

/**
 * The parameters that {@link VamanaVectorsFormat} writes segments with. Reading does not need them.
 *
 * @param maxDegree most neighbours of a node (R), {@value BuildParameters#MIN_DEGREE} to {@value
 *     BuildParameters#MAX_DEGREE}
 * @param beamWidth width of the search that precedes each insertion (L), {@code maxDegree} to
 *     {@value BuildParameters#MAX_BEAM_WIDTH}
 * @param alpha relaxation of robust prune, 1.0 to 2.0
 * @param subspaces PQ subspaces (m), which is the length of a code in bytes, 1 to 256 and at most
 *     the field's dimension; or {@link #AUTO_SUBSPACES} for {@link SubspaceLayout#defaultSubspaces}
 * @param graphThreshold segments with fewer vectors get no graph and are scanned; at least 0, or
 *     {@link #AUTO_GRAPH_THRESHOLD} for a number that depends on the dimension, see {@link
 *     #graphThreshold(int)}
 * @param quantizationThreshold segments with fewer vectors get no codes; at least 0
 * @param type what segments are searched with; with {@link IndexType#IVF}, {@code graphThreshold}
 *     says which segments get lists, and the other parameters above have no effect
 * @param codes codes of inverted lists
 * @param filterField field with doc values whose values get graphs of their own when segments are
 *     merged, so that searches with a filter by this field are fast; null for none
 */
public record VamanaParameters(
    int maxDegree,
    int beamWidth,
    float alpha,
    int subspaces,
    int graphThreshold,
    int quantizationThreshold,
    IndexType type,
    CodeKind codes,
    String filterField) {

  public static final int DEFAULT_MAX_DEGREE = 64;
  public static final int DEFAULT_BEAM_WIDTH = 128;
  public static final float DEFAULT_ALPHA = 1.2f;
  public static final int AUTO_SUBSPACES = 0;
  public static final int AUTO_GRAPH_THRESHOLD = -1;
  public static final int DEFAULT_GRAPH_THRESHOLD = AUTO_GRAPH_THRESHOLD;
  public static final int DEFAULT_QUANTIZATION_THRESHOLD = 25_000;

  /** The parameters of the no-argument constructor of {@link VamanaVectorsFormat}. */
  public static final VamanaParameters DEFAULT =
      new VamanaParameters(
          DEFAULT_MAX_DEGREE,
          DEFAULT_BEAM_WIDTH,
          DEFAULT_ALPHA,
          AUTO_SUBSPACES,
          DEFAULT_GRAPH_THRESHOLD,
          DEFAULT_QUANTIZATION_THRESHOLD);

  // components that a thread scans in the time of a walk, by their codes
  private static final int GRAPH_COMPONENTS = 3_145_728;
  private static final int MAX_AUTO_GRAPH = 8_192;

  // components that a thread scans in the time of a walk without codes
  private static final int SCANNED_COMPONENTS = 196_608;
  private static final int MIN_SCANNED = 256;
  private static final int MAX_SCANNED = 1_024;

  private static final long SEED = 42;

  public VamanaParameters {
    BuildParameters.check(maxDegree, beamWidth, alpha);
    if (subspaces < AUTO_SUBSPACES || subspaces > SubspaceLayout.MAX_SUBSPACES) {
      throw new IllegalArgumentException(
          "subspaces must be between 1 and "
              + SubspaceLayout.MAX_SUBSPACES
              + ", or "
              + AUTO_SUBSPACES
              + " for automatic, got "
              + subspaces);
    }
    if (graphThreshold < AUTO_GRAPH_THRESHOLD) {
      throw new IllegalArgumentException(
          "graphThreshold must be between 0 and "
              + Integer.MAX_VALUE
              + ", or "
              + AUTO_GRAPH_THRESHOLD
              + " for automatic, got "
              + graphThreshold);
    }
    checkNotNegative("quantizationThreshold", quantizationThreshold);
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(codes, "codes");
  }

  /** Makes parameters of the type {@link IndexType#GRAPH}. */
  public VamanaParameters(
      int maxDegree,
      int beamWidth,
      float alpha,
      int subspaces,
      int graphThreshold,
      int quantizationThreshold) {
    this(
        maxDegree,
        beamWidth,
        alpha,
        subspaces,
        graphThreshold,
        quantizationThreshold,
        IndexType.GRAPH,
        CodeKind.DEFAULT,
        null);
  }

  /** Returns these parameters with another type and kind of codes. */
  public VamanaParameters withType(IndexType newType, CodeKind newCodes) {
    return new VamanaParameters(
        maxDegree,
        beamWidth,
        alpha,
        subspaces,
        graphThreshold,
        quantizationThreshold,
        newType,
        newCodes,
        filterField);
  }

  /** Returns these parameters with another max degree, beam width and alpha. */
  public VamanaParameters withGraph(int newMaxDegree, int newBeamWidth, float newAlpha) {
    return new VamanaParameters(
        newMaxDegree,
        newBeamWidth,
        newAlpha,
        subspaces,
        graphThreshold,
        quantizationThreshold,
        type,
        codes,
        filterField);
  }

  /** Returns these parameters with another number of subspaces. */
  public VamanaParameters withSubspaces(int newSubspaces) {
    return new VamanaParameters(
        maxDegree,
        beamWidth,
        alpha,
        newSubspaces,
        graphThreshold,
        quantizationThreshold,
        type,
        codes,
        filterField);
  }

  /** Returns these parameters with other thresholds. */
  public VamanaParameters withThresholds(int newGraphThreshold, int newQuantizationThreshold) {
    return new VamanaParameters(
        maxDegree,
        beamWidth,
        alpha,
        subspaces,
        newGraphThreshold,
        newQuantizationThreshold,
        type,
        codes,
        filterField);
  }

  /** Returns these parameters with another filter field, or null for none. */
  public VamanaParameters withFilterField(String newFilterField) {
    return new VamanaParameters(
        maxDegree,
        beamWidth,
        alpha,
        subspaces,
        graphThreshold,
        quantizationThreshold,
        type,
        codes,
        newFilterField);
  }

  /**
   * Returns the number of vectors from which a segment gets a graph. Automatically it is about the
   * number whose scan takes as long as a walk, which is less the longer the vectors are, so that a
   * refresh seldom waits for a graph. The search of a segment with a graph may still be a scan.
   * docs/internals/search.md has the rule.
   *
   * @param dimension components of a vector, at least 1
   */
  public int graphThreshold(int dimension) {
    if (graphThreshold != AUTO_GRAPH_THRESHOLD) {
      return graphThreshold;
    }
    return Math.min(MAX_AUTO_GRAPH, GRAPH_COMPONENTS / dimension);
  }

  /**
   * Returns the number of vectors from which a value of the filter field gets a graph of its own:
   * scans of its vectors have no codes.
   *
   * @param dimension components of a vector, at least 1
   */
  int valueThreshold(int dimension) {
    return graphThreshold == AUTO_GRAPH_THRESHOLD ? scanned(dimension) : graphThreshold;
  }

  /**
   * Whether a segment below the graph threshold gets codes that make its scans faster. A segment of
   * fewer or shorter vectors is scanned as fast without.
   *
   * @param dimension components of a vector, at least 1
   * @param size vectors of the segment
   */
  boolean scansCodes(int dimension, int size) {
    return dimension >= ScalarCodes.MIN_DIMENSION && size >= scanned(dimension);
  }

  private static int scanned(int dimension) {
    return Math.max(MIN_SCANNED, Math.min(MAX_SCANNED, SCANNED_COMPONENTS / dimension));
  }

  /** Returns what a segment's attribute says of these parameters. */
  String attribute(boolean merge) {
    return type.settingName() + (merge && filterField != null ? " " + filterField : "");
  }

  /** Parameters of the graph that a merge builds. */
  BuildParameters build() {
    return new BuildParameters(maxDegree, beamWidth, alpha, SEED);
  }

  /**
   * Parameters of the graphs over the vectors of one value each. With a larger alpha, the few
   * neighbours of a row would all be of its own cluster.
   */
  BuildParameters buildOfValue() {
    return new BuildParameters(
        LabelGraphs.DEGREE, DEFAULT_BEAM_WIDTH, BuildParameters.MIN_ALPHA, SEED);
  }

  /**
   * Parameters of the graph that a flush builds. A small segment lives only until the next merge
   * and a refresh waits for its graph, so it is built in one pass, at half the cost. A flush large
   * enough for codes is a bulk load whose graph may live long, so it is built in two passes.
   *
   * @param size vectors of the segment
   */
  BuildParameters buildAtFlush(int size) {
    int passes = size >= quantizationThreshold ? 2 : 1;
    return new BuildParameters(maxDegree, beamWidth, alpha, SEED, passes);
  }

  SubspaceLayout layout(int dimension) {
    int count =
        subspaces == AUTO_SUBSPACES ? SubspaceLayout.defaultSubspaces(dimension) : subspaces;
    return new SubspaceLayout(dimension, Math.min(count, dimension));
  }

  private static void checkNotNegative(String name, int value) {
    if (value < 0) {
      throw new IllegalArgumentException(
          name + " must be between 0 and " + Integer.MAX_VALUE + ", got " + value);
    }
  }
}
