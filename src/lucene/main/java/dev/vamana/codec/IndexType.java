package dev.vamana.codec;

import java.util.Locale;

/** Structure by which segments are searched. */
public enum IndexType {
  /** A Vamana graph, and product quantization codes. */
  GRAPH,
  /** Inverted lists with RaBitQ or product quantization codes. */
  IVF;

  /** Returns the name in settings. */
  public String settingName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
