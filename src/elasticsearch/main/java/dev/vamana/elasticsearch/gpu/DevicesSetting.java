package dev.vamana.elasticsearch.gpu;

import dev.vamana.cuda.devices.DevicesExecutor;
import dev.vamana.cuda.driver.DeviceList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;

/** The setting {@code vamana.gpu.devices}. */
final class DevicesSetting {

  private static final String KEY = "vamana.gpu.devices";
  private static final int MOST = DevicesExecutor.MOST_DEVICES - 1;
  private static final Pattern NUMBER = Pattern.compile("\\d{1,9}");
  private static final Pattern UUID =
      Pattern.compile("(GPU|MIG)-\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}");

  /** The devices to use: {@link DeviceList#ALL}, or numbers and UUIDs; empty for the first. */
  static final Setting<List<String>> DEVICES =
      Setting.listSetting(
          KEY, List.of(), DevicesSetting::parse, new Distinct(), Property.NodeScope);

  private DevicesSetting() {}

  /** Returns the devices that a node is to use, at least one; as {@link DeviceList#find} takes. */
  static List<String> of(Settings settings) {
    List<String> listed = DEVICES.get(settings);
    return listed.isEmpty() ? List.of("0") : listed;
  }

  private static String parse(String text) {
    String each = text.strip();
    if (each.equals(DeviceList.ALL)) {
      return each;
    }
    if (NUMBER.matcher(each).matches() && Integer.parseInt(each) <= MOST) {
      return Integer.toString(Integer.parseInt(each));
    }
    if (UUID.matcher(each).matches()) {
      return each.substring(0, 3) + each.substring(3).toLowerCase(Locale.ROOT);
    }
    throw new IllegalArgumentException(
        "Failed to parse value ["
            + text
            + "] for setting ["
            + KEY
            + "] must be [all], or a list of numbers from 0 to "
            + MOST
            + " and of UUIDs as [nvidia-smi -L] prints them, such as"
            + " [GPU-c2fe43ba-0ae5-4e0b-a1b2-31f0c5d1a9e7]");
  }

  /** Refuses a device twice. */
  private static final class Distinct implements Setting.Validator<List<String>> {

    @Override
    public void validate(List<String> value) {
      Set<String> seen = new HashSet<>();
      for (String each : value) {
        if (seen.add(each) == false) {
          throw new IllegalArgumentException("setting [" + KEY + "] has [" + each + "] twice");
        }
      }
      if (seen.contains(DeviceList.ALL) && seen.size() > 1) {
        throw new IllegalArgumentException(
            "setting [" + KEY + "] has [all] beside other values, got " + value);
      }
    }
  }
}
