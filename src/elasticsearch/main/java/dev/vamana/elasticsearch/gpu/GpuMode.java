package dev.vamana.elasticsearch.gpu;

import java.util.Locale;

/** The values of {@code vamana.gpu.enabled}: whether a node uses its GPU. */
public enum GpuMode {
  /** The node uses a GPU if there is a usable one; otherwise it logs the reason once. */
  AUTO,
  /** The node uses a GPU, and does not start without a usable one. */
  REQUIRED,
  /** The node neither probes nor uses a GPU. */
  OFF;

  /** The value's spelling in the setting. */
  public String settingName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
