package dev.vamana.cuda.devices;

/**
 * How a {@link DevicesExecutor} balances its devices.
 *
 * @param roundNanos time between two plans, at least 1
 * @param loadSeconds time after which work counts 1/e of what it counted; above 0
 * @param busy how busy a device is at least whose segments are moved or copied for balance, as
 *     {@link DevicePlanner.Device#busy}; above 0, and above 1 for never
 * @param busySeconds time after which being busy counts 1/e of what it counted; above 0
 * @param rests rounds that a moved segment stays where it is, at least 0
 * @param movedPart a round moves one segment of so many, or two if that is more; at least 1
 */
public record DevicesOptions(
    long roundNanos,
    double loadSeconds,
    double busy,
    double busySeconds,
    int rests,
    int movedPart) {

  /**
   * A plan every five seconds over the load of about a minute; one move of a segment a minute. A
   * device that becomes full is busy after ten seconds.
   */
  public static final DevicesOptions DEFAULT =
      new DevicesOptions(5_000_000_000L, 60, DevicePlanner.Limits.DEFAULT.busy(), 15, 12, 16);

  public DevicesOptions {
    if (roundNanos < 1) {
      throw new IllegalArgumentException("roundNanos must be at least 1, got " + roundNanos);
    }
    if ((loadSeconds > 0) == false) {
      throw new IllegalArgumentException("loadSeconds must be above 0, got " + loadSeconds);
    }
    if ((busy > 0) == false) {
      throw new IllegalArgumentException("busy must be above 0, got " + busy);
    }
    if ((busySeconds > 0) == false) {
      throw new IllegalArgumentException("busySeconds must be above 0, got " + busySeconds);
    }
    if (rests < 0) {
      throw new IllegalArgumentException("rests must be at least 0, got " + rests);
    }
    if (movedPart < 1) {
      throw new IllegalArgumentException("movedPart must be at least 1, got " + movedPart);
    }
  }
}
