package dev.vamana.cuda.build;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.training.TrainingDevice;
import dev.vamana.graph.GraphTask;
import dev.vamana.vectors.RawComparison;
import java.io.IOException;
import java.util.function.Consumer;

/**
 * Builds graphs in one context. Any thread may call it; builds of several threads take turns by the
 * kernel, each in its own stream.
 */
public final class DeviceBuilder {

  private final CudaDriver driver;
  private final TrainingDevice transfers;
  private final DeviceBudget budget;
  private final Consumer<GpuException> onLost;
  private final RecentSearches searches;

  /**
   * Makes an instance, which allocates nothing yet.
   *
   * @param transfers copies between host and device
   * @param budget counts device memory
   * @param onLost called when only closing the context can give memory back
   * @param searches that builds leave room for
   */
  public DeviceBuilder(
      CudaDriver driver,
      TrainingDevice transfers,
      DeviceBudget budget,
      Consumer<GpuException> onLost,
      RecentSearches searches) {
    this.searches = searches;
    this.driver = driver;
    this.transfers = transfers;
    this.budget = budget;
    this.onLost = onLost;
  }

  /**
   * Whether the device can build the graph: not where Lucene's scores, by which its walks order
   * what they find, are too coarse to compare the vectors.
   */
  public static boolean supports(GraphTask task) throws IOException {
    return BuildPlan.of(task) != null
        && RawComparison.neededFor(task.vectors(), task.similarity()) == null;
  }

  /**
   * Builds the rows of a graph that the device supports.
   *
   * @param rows begun for the task; the caller finishes and closes them
   * @throws IOException from reading the vectors or the abort check, unchanged
   * @throws GpuException if the device fails or has too little memory; all memory has been freed
   *     then
   */
  public void build(GraphTask task, BuiltRows rows) throws IOException {
    task.abort().check();
    driver.bind();
    DeviceBuild build =
        new DeviceBuild(driver, transfers, budget, task, BuildPlan.of(task), searches);
    try {
      build.run(rows);
    } finally {
      try {
        build.close();
      } catch (GpuException e) {
        onLost.accept(e.asLoss());
      }
    }
  }
}
