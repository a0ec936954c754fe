package dev.vamana.ivf;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * How the codes of lists tell where a vector lies: RaBitQ with 1, 2, 4 or 7 bits for each component
 * (Gao and Long, 2024; Gao and others, 2025, for more than one bit), or product quantization of
 * residuals.
 */
public enum CodeKind {
  /** One bit: the sign. */
  RABITQ1(1),
  /** Two bits. */
  RABITQ2(2),
  /** Four bits. */
  RABITQ4(4),
  /** Seven bits. */
  RABITQ7(7),
  /** Product quantization of the residual, a byte for each subspace (IVFADC). */
  PQ(8);

  /**
   * The kind of segments whose parameters name none. docs/internals/tried.md compares the others.
   */
  public static final CodeKind DEFAULT = RABITQ1;

  private final int bits;

  CodeKind(int bits) {
    this.bits = bits;
  }

  /**
   * Returns the bits of a component, 1 to 7, or of a subspace, 8. Files and devices know kinds by
   * this number.
   */
  public int bits() {
    return bits;
  }

  /** Whether codes are bits of components. */
  public boolean isRabitq() {
    return this != PQ;
  }

  /** Returns the kinds whose codes are bits of components, those with fewer bits first. */
  public static List<CodeKind> rabitq() {
    return Arrays.stream(values()).filter(CodeKind::isRabitq).toList();
  }

  /** Returns the name in settings: {@code rabitq} and the number of bits, or {@code pq}. */
  public String settingName() {
    return isRabitq() ? "rabitq" + bits : "pq";
  }

  /** Returns the kind with a number of bits, or empty if there is none. */
  public static Optional<CodeKind> ofBits(int bits) {
    return Arrays.stream(values()).filter(kind -> kind.bits == bits).findFirst();
  }
}
