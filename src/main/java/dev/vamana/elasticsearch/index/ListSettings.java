package dev.vamana.elasticsearch.index;

import dev.vamana.codec.IndexType;
import dev.vamana.ivf.CodeKind;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;

/**
 * Makes the settings of inverted lists. They are refused together with settings of graphs and
 * product quantization, which would have no effect.
 */
public final class ListSettings {

  private ListSettings() {}

  static Setting<IndexType> type() {
    return new Setting<>(
        "index.vamana.type",
        IndexType.GRAPH.settingName(),
        text -> parse("index.vamana.type", text, IndexType.values(), IndexType::settingName),
        new NothingOfGraphs(),
        Property.IndexScope);
  }

  static Setting<CodeKind> codes(Setting<IndexType> type) {
    return new Setting<>(
        "index.vamana.codes",
        CodeKind.DEFAULT.settingName(),
        text -> parse("index.vamana.codes", text, CodeKind.values(), CodeKind::settingName),
        new OnlyWithLists(type),
        Property.IndexScope);
  }

  /**
   * Looks for shared codebooks, which lists do not use. Validators of settings do not see groups of
   * settings, so requests are checked.
   *
   * @param settings settings of an index
   * @return why the settings do not go together, or empty
   */
  static Optional<String> codebook(Settings settings) {
    if (IndexType.IVF.settingName().equals(settings.get(VamanaSettings.TYPE.getKey())) == false) {
      return Optional.empty();
    }
    return settings.keySet().stream()
        .filter(key -> key.startsWith(CodebookSetting.PREFIX) && settings.get(key) != null)
        .sorted()
        .findFirst()
        .map(
            key ->
                "setting ["
                    + key
                    + "] is ["
                    + settings.get(key)
                    + "], but has no effect with ["
                    + VamanaSettings.TYPE.getKey()
                    + "] [ivf]: remove one of the two");
  }

  private static <T> T parse(String key, String text, T[] values, Function<T, String> name) {
    for (T value : values) {
      if (name.apply(value).equals(text)) {
        return value;
      }
    }
    throw new IllegalArgumentException(
        "Failed to parse value ["
            + text
            + "] for setting ["
            + key
            + "] must be one of "
            + Arrays.stream(values).map(name).collect(Collectors.joining(", ", "[", "]")));
  }

  /** Refuses lists with settings that concern graphs or product quantization. */
  private static final class NothingOfGraphs implements Setting.Validator<IndexType> {

    @Override
    public void validate(IndexType value) {}

    @Override
    public void validate(IndexType type, Map<Setting<?>, Object> others) {
      if (type != IndexType.IVF) {
        return;
      }
      others.forEach(
          (setting, value) -> {
            boolean given = value.equals(setting.getDefault(Settings.EMPTY)) == false;
            if (given) {
              throw new IllegalArgumentException(
                  "Failed to parse value [ivf] for setting [index.vamana.type]: setting ["
                      + setting.getKey()
                      + "] has no effect with it, remove one of the two");
            }
          });
    }

    @Override
    public Iterator<Setting<?>> settings() {
      return List.<Setting<?>>of(
              VamanaSettings.MAX_DEGREE,
              VamanaSettings.BEAM_WIDTH,
              VamanaSettings.ALPHA,
              VamanaSettings.PQ_SUBSPACES,
              VamanaSettings.PQ_THRESHOLD)
          .iterator();
    }
  }

  /** Refuses codes without lists. */
  private static final class OnlyWithLists implements Setting.Validator<CodeKind> {
    private final Setting<IndexType> type;

    OnlyWithLists(Setting<IndexType> type) {
      this.type = type;
    }

    @Override
    public void validate(CodeKind value) {}

    @Override
    public void validate(CodeKind codes, Map<Setting<?>, Object> others, boolean given) {
      if (given && others.get(type) != IndexType.IVF) {
        throw new IllegalArgumentException(
            "Failed to parse value ["
                + codes.settingName()
                + "] for setting [index.vamana.codes]: it has no effect unless [index.vamana.type]"
                + " is [ivf]");
      }
    }

    @Override
    public Iterator<Setting<?>> settings() {
      return List.<Setting<?>>of(type).iterator();
    }
  }
}
