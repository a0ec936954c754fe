package dev.vamana.elasticsearch;

import dev.vamana.cuda.memory.Place;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.Precision;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.elasticsearch.common.logging.DeprecationCategory;
import org.elasticsearch.common.logging.DeprecationLogger;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;

/**
 * The settings that say which placements the planner may choose from: where graphs are, and what
 * walks read. {@link GpuSettings} reads them.
 *
 * <p>A value of {@link #PLACEMENT} that names a place and a precision at once, such as {@code
 * exact-float16}, works as before and is answered by a deprecation warning.
 */
final class PlacementSettings {
  /** The value that leaves the choice to the planner. */
  static final String AUTO = "auto";

  private static final DeprecationLogger deprecation =
      DeprecationLogger.getLogger(PlacementSettings.class);

  private static final String PLACEMENT_KEY = "vamana.gpu.placement";
  private static final String PRECISION_KEY = "vamana.gpu.precision";

  /** Where the graphs of all segments are: {@link #AUTO}, or the name of a {@link Place}. */
  static final Setting<String> PLACEMENT =
      new Setting<>(
          PLACEMENT_KEY,
          AUTO,
          PlacementSettings::parsePlacement,
          new Together(PLACEMENT_KEY),
          Property.NodeScope,
          Property.Dynamic);

  /** What walks read: {@link #AUTO}, or the name of a {@link Precision}. */
  static final Setting<String> PRECISION =
      new Setting<>(
          PRECISION_KEY,
          AUTO,
          text -> GpuSettings.oneOf(PRECISION_KEY, text, precisions(), name -> name),
          new Together(PRECISION_KEY),
          Property.NodeScope,
          Property.Dynamic);

  private PlacementSettings() {}

  /**
   * Returns the placements that the settings of a node allow.
   *
   * @throws IllegalArgumentException if a value is unknown, or the two do not go together
   */
  static Set<Placement> of(Settings settings) {
    return allowed(PLACEMENT.get(settings), PRECISION.get(settings));
  }

  private static Set<Placement> allowed(String placement, String precision) {
    Precision distances = precision.equals(AUTO) ? null : precisionOf(precision);
    Placement both = both(placement);
    if (both != null) {
      return distances == null || distances == both.precision() ? Set.of(both) : Set.of();
    }
    return Placement.of(placement.equals(AUTO) ? null : placeOf(placement), distances);
  }

  /** Returns the placement of a deprecated value, or null if the value names only a place. */
  private static Placement both(String text) {
    return places().contains(text) ? null : Placement.named(text);
  }

  private static String parsePlacement(String text) {
    String warning = warning(text);
    if (warning == null) {
      return GpuSettings.oneOf(PLACEMENT_KEY, text, places(), name -> name);
    }
    deprecation.warn(DeprecationCategory.SETTINGS, PLACEMENT_KEY + "." + text, warning);
    return text;
  }

  /** Returns what to say of a value of {@link #PLACEMENT} if it is deprecated, or null. */
  static String warning(String text) {
    Placement both = both(text);
    return both == null
        ? null
        : String.format(
            Locale.ROOT,
            "[%s] is deprecated as a value of [%s]: set [%s] to [%s] and [%s] to [%s]",
            text,
            PLACEMENT_KEY,
            PLACEMENT_KEY,
            both.place().settingName(),
            PRECISION_KEY,
            both.precision().settingName());
  }

  private static List<String> places() {
    return Stream.concat(Stream.of(AUTO), Arrays.stream(Place.values()).map(Place::settingName))
        .toList();
  }

  private static List<String> precisions() {
    return Stream.concat(
            Stream.of(AUTO), Arrays.stream(Precision.values()).map(Precision::settingName))
        .toList();
  }

  private static Place placeOf(String text) {
    return GpuSettings.oneOf(
        PLACEMENT_KEY, text, Arrays.asList(Place.values()), Place::settingName);
  }

  private static Precision precisionOf(String text) {
    return GpuSettings.oneOf(
        PRECISION_KEY, text, Arrays.asList(Precision.values()), Precision::settingName);
  }

  /** Refuses a place and a precision that do not go together. */
  private record Together(String key) implements Setting.Validator<String> {

    @Override
    public void validate(String value) {}

    @Override
    public void validate(String value, Map<Setting<?>, Object> others) {
      boolean placement = key.equals(PLACEMENT_KEY);
      String other = (String) others.get(placement ? PRECISION : PLACEMENT);
      String where = placement ? value : other;
      String distances = placement ? other : value;
      if (allowed(where, distances).isEmpty()) {
        throw new IllegalArgumentException(
            "setting ["
                + PLACEMENT_KEY
                + "] is ["
                + where
                + "], which does not go with ["
                + distances
                + "] for ["
                + PRECISION_KEY
                + "]: [device] takes any precision, [mapped-graph] and [host-fetch] take [auto] or"
                + " [pq]");
      }
    }

    @Override
    public Iterator<Setting<?>> settings() {
      List<Setting<?>> others = List.of(key.equals(PLACEMENT_KEY) ? PRECISION : PLACEMENT);
      return others.iterator();
    }
  }
}
