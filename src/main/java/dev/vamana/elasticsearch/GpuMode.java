package dev.vamana.elasticsearch;

import java.util.Locale;

/** Whether a node uses its GPU: the values of {@code vamana.gpu.enabled}. */
enum GpuMode {
  /** Used if there is a usable one; otherwise the log says once why not. */
  AUTO,
  /** A node without a usable one does not start. */
  REQUIRED,
  /** Neither used nor looked for. */
  OFF;

  /** As the setting spells it. */
  String settingName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
