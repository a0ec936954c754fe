package dev.vamana.ivf;

import java.util.Arrays;
import java.util.Optional;

/**
 * How precisely the codes of lists tell a vector's direction: RaBitQ with 1, 2, 4 or 7 bits for
 * each component (Gao and Long, 2024; Gao and others, 2025, for more than one bit).
 */
public enum CodeKind {
  /** One bit: the sign. */
  RABITQ1(1),
  /** Two bits. */
  RABITQ2(2),
  /** Four bits. */
  RABITQ4(4),
  /** Seven bits. */
  RABITQ7(7);

  /**
   * The kind of segments whose parameters name none. docs/internals/ivf.md has the measurements.
   */
  public static final CodeKind DEFAULT = RABITQ1;

  private final int bits;

  CodeKind(int bits) {
    this.bits = bits;
  }

  /** Returns the bits of a component, 1 to 7. */
  public int bits() {
    return bits;
  }

  /** Returns the name in settings: {@code rabitq} and the number of bits. */
  public String settingName() {
    return "rabitq" + bits;
  }

  /** Returns the kind with a number of bits, or empty if there is none. */
  public static Optional<CodeKind> ofBits(int bits) {
    return Arrays.stream(values()).filter(kind -> kind.bits == bits).findFirst();
  }
}
