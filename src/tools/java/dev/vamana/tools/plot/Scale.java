package dev.vamana.tools.plot;

import java.util.ArrayList;
import java.util.List;

/** How an axis maps values to positions. */
public enum Scale {
  /** Equal steps for equal differences. */
  LINEAR {
    @Override
    double transform(double value) {
      return value;
    }

    @Override
    List<Double> ticks(double low, double high) {
      double rough = (high - low) / 6;
      double power = Math.pow(10, Math.floor(Math.log10(rough)));
      double step = power * (rough > 5 * power ? 10 : rough > 2 * power ? 5 : 2);
      List<Double> ticks = new ArrayList<>();
      long last = (long) Math.floor(high / step + 1e-9);
      for (long i = (long) Math.ceil(low / step - 1e-9); i <= last; i++) {
        ticks.add(i * step);
      }
      return ticks;
    }
  },

  /** Equal steps for equal ratios; values must be above 0. */
  LOG {
    @Override
    double transform(double value) {
      return Math.log10(value);
    }

    @Override
    double below(double lowest) {
      return lowest / 1.1;
    }

    @Override
    double above(double highest) {
      return highest * 1.1;
    }

    @Override
    List<Double> ticks(double low, double high) {
      List<Double> ticks = new ArrayList<>();
      for (int power = (int) Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
        for (int digit : new int[] {1, 2, 5}) {
          addWithin(ticks, digit * Math.pow(10, power), low, high);
        }
      }
      return ticks;
    }
  },

  /**
   * For shares close to 1, such as recall: equal steps for equal ratios of the distance to 1.
   * Values must be in [0, 1]; values above 0.9999 are drawn at 0.9999.
   */
  NEAR_ONE {
    @Override
    double transform(double value) {
      return -Math.log10(1 - Math.min(value, NEAREST_ONE));
    }

    @Override
    List<Double> ticks(double low, double high) {
      List<Double> ticks = new ArrayList<>();
      addWithin(ticks, 0, low, high);
      for (double missing = 0.1; missing > 0.5 * (1 - NEAREST_ONE); missing /= 10) {
        for (int digit : new int[] {5, 2, 1}) {
          addWithin(ticks, 1 - digit * missing, low, high);
        }
      }
      return ticks;
    }
  };

  private static final double NEAREST_ONE = 0.9999;

  /** Position of a value, in units that are the same along the axis. */
  abstract double transform(double value);

  /** Values in the range that deserve a label, in ascending order. */
  abstract List<Double> ticks(double low, double high);

  /** Start of an axis that fits data with this lowest value. */
  double below(double lowest) {
    return lowest;
  }

  /** End of an axis that fits data with this highest value. */
  double above(double highest) {
    return highest;
  }

  private static void addWithin(List<Double> ticks, double value, double low, double high) {
    double slack = 1e-9 * Math.abs(high);
    if (value >= low - slack && value <= high + slack) {
      ticks.add(value);
    }
  }
}
