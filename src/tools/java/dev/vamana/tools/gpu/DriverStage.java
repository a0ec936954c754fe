package dev.vamana.tools.gpu;

import dev.vamana.tools.gpu.node.Driver;
import dev.vamana.tools.gpu.node.DriverTrial;
import dev.vamana.tools.gpu.node.NodeParts;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures a node as the drivers of public benchmarks do. Needs the suite's part {@code node}.
 *
 * <p>{@code --methods} chooses among the plugin with a GPU, which builds graphs, too, without, and
 * the stock index; {@code --drivers} among the drivers; {@code --loaders} is the number of
 * concurrent bulk requests.
 */
final class DriverStage implements Stage {

  /** Section of the report. */
  static final String SECTION = "drivers";

  private static final double LONGER = 5;

  private final String setName;

  DriverStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException {
    SuiteOptions options = context.options();
    SuiteSet set = SuiteSet.load(options, setName);
    List<String> methods = options.methods();
    if (methods.isEmpty()) {
      methods =
          options.device() < 0
              ? List.of(DriverTrial.CPU, DriverTrial.STOCK)
              : List.of(DriverTrial.GPU, DriverTrial.CPU, DriverTrial.STOCK);
    }
    DriverTrial trial =
        new DriverTrial(
            new DriverTrial.Plan(set.vectors(), options.loaders(), options.seconds() * LONGER),
            new IntoFragment(context, set));
    String placement = options.placements().isEmpty() ? "auto" : options.placements().get(0);
    NodeParts parts = NodeStage.parts(options, set);
    NodeHome home = parts.assemble();
    for (String method : methods) {
      String mode = method.equals(DriverTrial.GPU) ? placement : NodeParts.OFF;
      // plans are chosen as by default
      Map<String, String> settings =
          Map.of(
              "vamana.gpu.plan",
              "auto",
              "vamana.gpu.build",
              method.equals(DriverTrial.GPU) ? "auto" : "off");
      try (RunningNode node = parts.start(home, mode, settings)) {
        for (Driver driver : Driver.ALL) {
          if (options.drivers().isEmpty() || options.drivers().contains(driver.name())) {
            trial.run(node, driver, method);
          }
        }
      }
    }
  }

  private record IntoFragment(Context context, SuiteSet set) implements DriverTrial.Findings {

    @Override
    public void spent(Driver driver, String method, String what, double seconds)
        throws IOException {
      Map<String, Object> row = row(driver, method, what);
      row.put("callers", what.equals("load") ? context.options().loaders() : 1);
      row.put("seconds", Samples.round(seconds, 2));
      add(row);
    }

    @Override
    public void searched(Driver driver, String method, DriverTrial.Search search)
        throws IOException {
      Map<String, Object> row = row(driver, method, "search");
      row.put("callers", search.clients());
      row.put("k", driver.k());
      row.put("beam", search.numCandidates());
      row.put("recall", Samples.round(search.recall(), 5));
      row.put("requests_per_second", Samples.round(search.requestsPerSecond(), 1));
      row.put("p50_us", Samples.round(search.micros(0.5), 1));
      row.put("p99_us", Samples.round(search.micros(0.99), 1));
      if (search.answered().isEmpty() == false) {
        row.put("answered", search.answered());
      }
      add(row);
    }

    @Override
    public void say(String format, Object... values) {
      context.say(format, values);
    }

    private Map<String, Object> row(Driver driver, String method, String what) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("set", set.vectors().name());
      row.put("n", set.vectors().base().size());
      row.put("dims", set.vectors().dimension());
      row.put("variant", driver.name());
      row.put("method", method);
      row.put("what", what);
      return row;
    }

    private void add(Map<String, Object> row) throws IOException {
      context.fragment().add(SECTION, row);
      context.say("  %s", row);
    }
  }
}
