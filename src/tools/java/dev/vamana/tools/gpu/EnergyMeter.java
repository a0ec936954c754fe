package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.driver.Nvml;
import java.io.Closeable;
import java.util.Optional;
import java.util.OptionalLong;

/** Energy that the device draws, as the management library counts it; empty where it cannot. */
final class EnergyMeter implements Closeable {

  private final Optional<Nvml> nvml;

  EnergyMeter() {
    String bus = new DeviceProbe(0).result().pciBusId();
    nvml = bus == null ? Optional.empty() : Nvml.open(bus);
  }

  /** Work that is measured. */
  interface Work {
    /** Returns how many queries were answered. */
    long run() throws java.io.IOException, InterruptedException;
  }

  /** Joules a query; NaN where nobody counts. */
  double joulesPerQuery(Work work) throws java.io.IOException, InterruptedException {
    OptionalLong before = nvml.isEmpty() ? OptionalLong.empty() : nvml.get().energyMillijoules();
    long queries = work.run();
    OptionalLong after = nvml.isEmpty() ? OptionalLong.empty() : nvml.get().energyMillijoules();
    return before.isEmpty() || after.isEmpty()
        ? Double.NaN
        : (after.getAsLong() - before.getAsLong()) * 1e-3 / queries;
  }

  @Override
  public void close() {
    nvml.ifPresent(Nvml::close);
  }
}
