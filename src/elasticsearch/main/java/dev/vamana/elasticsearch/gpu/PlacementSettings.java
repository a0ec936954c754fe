package dev.vamana.elasticsearch.gpu;

import dev.vamana.cuda.memory.Place;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.Precision;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;

/**
 * The settings that say which placements the planner may choose from: where graphs are, and what
 * walks read. {@link GpuSettings} reads them.
 */
final class PlacementSettings {
  /** The value that leaves the choice to the planner. */
  static final String AUTO = "auto";

  private static final String PLACEMENT_KEY = "vamana.gpu.placement";
  private static final String PRECISION_KEY = "vamana.gpu.precision";

  /** Where the graphs of all segments are: {@link #AUTO}, or the name of a {@link Place}. */
  static final Setting<String> PLACEMENT =
      new Setting<>(
          PLACEMENT_KEY,
          AUTO,
          text -> GpuSettings.oneOf(PLACEMENT_KEY, text, places(), name -> name),
          new Together(PLACEMENT_KEY),
          Property.NodeScope,
          Property.Dynamic);

  /** Form of vectors that walks read: {@link #AUTO}, or the name of a {@link Precision}. */
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
    return Placement.of(placement.equals(AUTO) ? null : placeOf(placement), distances);
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
