package dev.vamana.cuda.call;

import java.util.Arrays;

/** A growing array of ints, of which {@link DeviceCall} has several. */
final class IntList {
  private int[] values = new int[16];
  private int size;

  void add(int value) {
    if (size == values.length) {
      values = Arrays.copyOf(values, 2 * size);
    }
    values[size++] = value;
  }

  void addRange(int from, int to) {
    if (size + to - from > values.length) {
      values = Arrays.copyOf(values, Math.max(2 * size, size + to - from));
    }
    for (int value = from; value < to; value++) {
      values[size++] = value;
    }
  }

  int[] values() {
    return values;
  }

  int size() {
    return size;
  }

  void clear() {
    size = 0;
  }
}
