package dev.vamana.tools.gpu;

import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.ivf.CodeKind;
import dev.vamana.tools.arguments.Arguments;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Options of a process of the suite.
 *
 * @param home folder of data sets, indexes and results
 * @param stage name of the stage
 * @param placements names of placements to measure; empty for all
 * @param methods names of methods to measure, for stages that know several; empty for all
 * @param codes kinds of codes of lists to measure, as {@code index.vamana.codes} names them; empty
 *     for the default
 * @param teams blocks that search the lists of one item, each measured by itself; 0 for as many as
 *     the executor chooses
 * @param sharing numbers of items that have to share a list so that lists are searched by many
 *     items together, each measured: 0 for one by one, -1 for as the executor chooses
 * @param drivers names of drivers to ask a node as; empty for all
 * @param batches batch sizes
 * @param seconds time spent on each measured point
 * @param limit most base vectors of a set to use
 * @param segments most segments of a node's indices
 * @param segmentCounts numbers of segments, for stages that compare several
 * @param slices numbers of slices of a run over all documents, each measured
 * @param clients numbers of concurrent clients, for stages that compare several
 * @param starts how often the nodes of cells are started for each number of segments
 * @param linger microseconds that an idle device of a node, or of the stage of concurrent queries,
 *     waits for more items
 * @param searchThreads search threads of a node, or 0 for its default
 * @param loaders concurrent bulk requests that load a node
 * @param devices number of GPUs of a node, and of the stages that compare one with several
 * @param device ordinal of the GPU, or -1 to use the CPU instead, which checks the suite itself
 */
record SuiteOptions(
    Path home,
    String stage,
    List<String> placements,
    List<String> methods,
    List<CodeKind> codes,
    List<Integer> teams,
    List<Integer> sharing,
    List<Integer> steps,
    List<String> drivers,
    List<Integer> batches,
    double seconds,
    int limit,
    int segments,
    List<Integer> segmentCounts,
    List<Integer> slices,
    List<Integer> clients,
    int starts,
    int linger,
    int searchThreads,
    int loaders,
    int devices,
    int device) {

  private static final List<String> KNOWN =
      List.of(
          "home",
          "stage",
          "placements",
          "methods",
          "codes",
          "teams",
          "sharing",
          "steps",
          "drivers",
          "batches",
          "seconds",
          "limit",
          "segments",
          "segment-counts",
          "slices",
          "clients",
          "starts",
          "linger",
          "search-threads",
          "loaders",
          "devices",
          "device");

  /**
   * Parses arguments of the form {@code --name=value}.
   *
   * @throws IllegalArgumentException if one is unknown, malformed or missing
   */
  static SuiteOptions parse(String... arguments) {
    Arguments given = Arguments.parse(KNOWN, arguments);
    return new SuiteOptions(
        Path.of(given.required("home", "the folder of sets, indexes and results")),
        given.required("stage", "the name of a stage"),
        given.list("placements", List.of()),
        given.list("methods", List.of()),
        given.list("codes", List.of()).stream().map(SuiteOptions::codes).toList(),
        given.numbers("teams", 0, List.of(0)),
        given.numbers("sharing", Tuning.CHOOSE_SHARING, List.of(Tuning.CHOOSE_SHARING)),
        given.numbers("steps", 1, List.of()),
        given.list("drivers", List.of()),
        given.numbers("batches", 1, List.of(1, 10, 100, 1_000, 10_000)),
        given.positive("seconds", 1_000, 0.4),
        given.number("limit", 1, Integer.MAX_VALUE, Integer.MAX_VALUE),
        given.number("segments", 1, 1_000, 1),
        given.numbers("segment-counts", 1, List.of(1, 8, 40)),
        given.numbers("slices", 1, List.of(1, 8)),
        given.numbers("clients", 1, List.of(1, 8, 32, 64)),
        given.number("starts", 1, 10, 2),
        given.number("linger", 0, 100_000, 0),
        given.number("search-threads", 0, 10_000, 0),
        given.number("loaders", 1, 1_000, 1),
        given.number("devices", 1, 64, 1),
        given.number("device", -1, Integer.MAX_VALUE, 0));
  }

  /** The placements to measure; those of a stage if none was asked for. */
  List<Placement> placementsOr(List<Placement> usual) {
    return placements.isEmpty()
        ? usual
        : placements.stream().map(Placement::named).filter(Objects::nonNull).toList();
  }

  private static CodeKind codes(String name) {
    return Arrays.stream(CodeKind.values())
        .filter(kind -> kind.settingName().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "--codes must be of "
                        + Arrays.stream(CodeKind.values()).map(CodeKind::settingName).toList()
                        + ", got "
                        + name));
  }
}
