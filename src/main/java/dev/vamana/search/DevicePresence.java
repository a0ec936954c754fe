package dev.vamana.search;

import java.util.Locale;
import java.util.Objects;

/**
 * Where an executor has a segment at this moment.
 *
 * @param state whether it lies on a device
 * @param placement how it is placed, as settings spell it; null unless it is resident
 * @param deviceBytes device memory that it takes; 0 unless it is resident
 * @param reason why it is not resident, for instance {@code over budget}; null if it is
 */
public record DevicePresence(State state, String placement, long deviceBytes, String reason) {

  /** Whether a segment lies on a device. */
  public enum State {
    /** It does, and searches there. */
    RESIDENT,
    /** It is queued or being uploaded. */
    WAITING,
    /** It does not, and is searched on the CPU. */
    REFUSED,
    /** There is no device, or none now. */
    NO_DEVICE;

    /** As responses spell it, for instance {@code no_device}. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What executors without a device say of every segment. */
  public static final DevicePresence NO_DEVICE =
      new DevicePresence(State.NO_DEVICE, null, 0, "no device");

  public DevicePresence {
    Objects.requireNonNull(state, "state");
    if ((state == State.RESIDENT) == (placement == null)
        || (state == State.RESIDENT) != (reason == null)) {
      throw new IllegalArgumentException(
          "resident segments have a placement, others a reason; got state "
              + state
              + ", placement "
              + placement
              + ", reason "
              + reason);
    }
  }

  /** Of a segment on the device. */
  public static DevicePresence resident(String placement, long deviceBytes) {
    return new DevicePresence(State.RESIDENT, placement, deviceBytes, null);
  }

  /** Of a segment on its way to the device. */
  public static DevicePresence waiting(String reason) {
    return new DevicePresence(State.WAITING, null, 0, reason);
  }

  /** Of a segment that is searched on the CPU though there is a device. */
  public static DevicePresence refused(String reason) {
    return new DevicePresence(State.REFUSED, null, 0, reason);
  }
}
