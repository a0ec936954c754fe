package dev.vamana.tools.kernels;

import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.driver.KernelImages;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The compute capabilities that a build compiles kernels for.
 *
 * @param machineCode compute capabilities that get machine code, 90 for 9.0
 * @param ptx the one that gets PTX as well, for devices that do not exist yet; 0 for none
 * @param reason how they were chosen, for the last lines of the build
 */
record Architectures(SortedSet<Integer> machineCode, int ptx, String reason) {

  /** Every architecture that NVRTC 12.9 and the kernels know, with PTX of the last. */
  static final String ALL = "75,80,86,89,90,100,120+ptx";

  private static final Pattern ONE = Pattern.compile("(\\d{2,3})(\\+ptx)?");

  /**
   * Reads the build's property {@code cuda.architectures}.
   *
   * @param text {@code auto} for the GPUs of this machine, {@code none}, {@code all}, or numbers
   *     such as {@code 90,120+ptx}
   * @param devices names and compute capabilities of the GPUs of this machine
   * @throws IllegalArgumentException if it is none of them
   */
  static Architectures of(String text, List<Map.Entry<String, Integer>> devices) {
    return switch (text) {
      case "auto" -> present(devices);
      case "none" -> new Architectures(new TreeSet<>(), 0, "no kernels were asked for");
      case "all" -> listed(ALL);
      default -> listed(text);
    };
  }

  private static Architectures present(List<Map.Entry<String, Integer>> devices) {
    SortedSet<Integer> machineCode = new TreeSet<>();
    StringBuilder reason = new StringBuilder();
    for (Map.Entry<String, Integer> device : devices) {
      boolean old = device.getValue() < DeviceProbe.MIN_COMPUTE_CAPABILITY;
      if (old == false) {
        machineCode.add(device.getValue());
      }
      reason
          .append(reason.isEmpty() ? "" : ", ")
          .append(device.getKey())
          .append(" of compute capability ")
          .append(KernelImages.version(device.getValue()))
          .append(old ? " (too old: 7.5 is needed)" : "");
    }
    return new Architectures(
        machineCode,
        0,
        devices.isEmpty() ? "this machine has no NVIDIA GPU" : "this machine has " + reason);
  }

  private static Architectures listed(String text) {
    SortedSet<Integer> machineCode = new TreeSet<>();
    int ptx = 0;
    for (String word : text.trim().split("[, ]+")) {
      Matcher one = ONE.matcher(word);
      if (one.matches() == false
          || Integer.parseInt(one.group(1)) < DeviceProbe.MIN_COMPUTE_CAPABILITY) {
        throw new IllegalArgumentException(
            "cuda.architectures must be auto, none, all, or compute capabilities from 75 on such as"
                + " 90 or 90,120+ptx, got '"
                + text
                + "'");
      }
      machineCode.add(Integer.parseInt(one.group(1)));
      ptx = one.group(2) == null ? ptx : Math.max(ptx, Integer.parseInt(one.group(1)));
    }
    return new Architectures(machineCode, ptx, "asked for by cuda.architectures");
  }

  /** The compute capabilities as people write them. */
  String describe() {
    return String.join(", ", machineCode.stream().map(KernelImages::version).toList())
        + (ptx == 0 ? "" : " and PTX of " + KernelImages.version(ptx));
  }
}
