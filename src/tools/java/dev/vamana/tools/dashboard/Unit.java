package dev.vamana.tools.dashboard;

import java.util.Locale;

/** How Grafana's units are written here. */
final class Unit {
  private Unit() {}

  /**
   * Writes a value.
   *
   * @param unit Grafana's name of the unit
   */
  static String format(String unit, double value) {
    return switch (unit) {
      case "percentunit" -> number(value * 100) + " %";
      case "bytes" -> scaled(value, 1024, " B", " KiB", " MiB", " GiB", " TiB");
      case "ops" -> number(value) + " /s";
      case "s" -> Math.abs(value) < 1 ? number(value * 1000) + " ms" : number(value) + " s";
      case "watt" -> number(value) + " W";
      case "celsius" -> number(value) + " °C";
      default -> number(value);
    };
  }

  private static String scaled(double value, double factor, String... names) {
    double rest = value;
    int name = 0;
    while (Math.abs(rest) >= factor && name < names.length - 1) {
      rest /= factor;
      name++;
    }
    return number(rest) + names[name];
  }

  private static String number(double value) {
    String text = String.format(Locale.ROOT, Math.abs(value) < 10 ? "%.2f" : "%.1f", value);
    return text.contains(".") ? text.replaceFirst("\\.?0+$", "") : text;
  }
}
