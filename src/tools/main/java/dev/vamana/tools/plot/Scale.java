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
      List<Double> ticks = ticks(low, high, 1, 2, 5);
      return ticks.size() < FEWEST_TICKS ? ticks(low, high, 1, 1.5, 2, 3, 4, 5, 6, 8) : ticks;
    }

    private List<Double> ticks(double low, double high, double... digits) {
      List<Double> ticks = new ArrayList<>();
      for (int power = (int) Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
        for (double digit : digits) {
          addWithin(ticks, digit * Math.pow(10, power), low, high);
        }
      }
      return ticks;
    }
  },

  /**
   * For shares close to 1, such as recall: equal steps for equal ratios of the distance to 1, and 1
   * itself at the end, half a step of ten beyond 0.9999. Values must be in [0, 1].
   */
  NEAR_ONE {
    @Override
    double transform(double value) {
      return value > 1 ? transform(1) + ROOM : -Math.log10(1 - value + NOTHING_MISSING);
    }

    @Override
    double above(double highest) {
      // beyond 1 there is room for a marker
      return highest == 1 ? 1.01 : highest;
    }

    @Override
    List<Double> ticks(double low, double high) {
      List<Double> ticks = new ArrayList<>();
      addWithin(ticks, 0, low, high);
      for (double missing : new double[] {0.1, 0.01, 0.001, 0.0001}) {
        // longer labels would meet
        int[] digits = missing > 0.0005 ? new int[] {5, 2, 1} : new int[] {1};
        for (int digit : digits) {
          addWithin(ticks, 1 - digit * missing, low, high);
        }
      }
      addWithin(ticks, 1, low, high);
      return ticks;
    }
  };

  /** Added to what is missing to 1, so that nothing missing has a place on the axis. */
  private static final double NOTHING_MISSING = Math.pow(10, -4.5);

  /** Room beyond 1, in steps of ten. */
  private static final double ROOM = 0.1;

  private static final int FEWEST_TICKS = 4;

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
