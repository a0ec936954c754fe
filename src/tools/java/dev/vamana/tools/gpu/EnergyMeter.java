package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.driver.Nvml;
import java.io.Closeable;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Measures the device's energy consumption with NVIDIA's management library, if it supports that.
 */
final class EnergyMeter implements Closeable {

  private final Optional<Nvml> nvml;

  EnergyMeter() {
    String bus = new DeviceProbe(0).result().pciBusId();
    nvml = bus == null ? Optional.empty() : Nvml.open(bus);
  }

  /** The work to measure. */
  interface Work {
    /** Returns the number of queries answered. */
    long run() throws java.io.IOException, InterruptedException;
  }

  /** Returns joules per query; NaN if the device does not count energy. */
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
