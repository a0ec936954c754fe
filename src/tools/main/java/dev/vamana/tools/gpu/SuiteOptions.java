package dev.vamana.tools.gpu;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.tools.arguments.Arguments;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * Options of a process of the suite.
 *
 * @param home folder of data sets, indexes and results
 * @param stage name of the stage
 * @param set folder of vectors, for stages of the set {@value SuiteSet#GIVEN}
 * @param plugin zip of the plugin, for stages of a node; null to pack it of the suite's parts
 * @param placements names of placements to measure; empty for all
 * @param methods names of methods to measure, for stages that know several; empty for all
 * @param batches batch sizes
 * @param seconds time spent on each measured point
 * @param limit most base vectors of a set to use
 * @param segments numbers of segments, each measured
 * @param clients numbers of concurrent clients, each measured
 * @param rates documents a second that a loader adds to a node, each measured
 * @param starts how often the nodes of cells are started for each number of segments
 * @param loaders concurrent bulk requests that load a node
 * @param devices number of GPUs of the stage that compares one with several
 * @param device ordinal of the GPU, or -1 to use the CPU instead, which checks the suite itself
 */
record SuiteOptions(
    Path home,
    String stage,
    Path set,
    Path plugin,
    List<String> placements,
    List<String> methods,
    List<Integer> batches,
    double seconds,
    int limit,
    List<Integer> segments,
    List<Integer> clients,
    List<Integer> rates,
    int starts,
    int loaders,
    int devices,
    int device) {

  /**
   * Parses arguments of the form {@code --name=value}.
   *
   * @throws IllegalArgumentException if one is unknown, malformed or missing
   */
  static SuiteOptions parse(String... arguments) {
    Arguments given = Arguments.parse(arguments);
    return given.checked(
        new SuiteOptions(
            given.file("home", "target/suite"),
            given.required("stage", "the name of a stage"),
            given.file("set", ""),
            given.file("plugin", System.getProperty("vamana.plugin")),
            given.list("placements", List.of()),
            given.list("methods", List.of()),
            given.numbers("batches", 1, List.of(1, 10, 100, 1_000, 10_000)),
            given.positive("seconds", 1_000, 0.4),
            given.number("limit", 1, Integer.MAX_VALUE, Integer.MAX_VALUE),
            given.numbers("segments", 1, List.of(1, 8, 40)),
            given.numbers("clients", 1, List.of(1, 8, 32, 64)),
            given.numbers("rates", 0, List.of(0, 500)),
            given.number("starts", 1, 10, 2),
            given.number("loaders", 1, 1_000, 1),
            given.number("devices", 1, 64, 2),
            given.number("device", -1, Integer.MAX_VALUE, 0)));
  }

  /** Returns the placements to measure: {@code usual} if the arguments name no placement. */
  List<Placement> placementsOr(List<Placement> usual) {
    return placements.isEmpty()
        ? usual
        : placements.stream().map(Placement::named).filter(Objects::nonNull).toList();
  }

  /** Whether a method is to be measured. */
  boolean wants(String method) {
    return methods.isEmpty() || methods.contains(method);
  }

  /** Returns the largest batch size. */
  int largestBatch() {
    return batches.stream().mapToInt(Integer::intValue).max().orElseThrow();
  }
}
