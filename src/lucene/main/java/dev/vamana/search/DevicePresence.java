package dev.vamana.search;

import java.util.Locale;
import java.util.Objects;

/**
 * Where an executor has a segment at this moment.
 *
 * @param state whether the segment is on a device
 * @param placement its placement, as in settings; null unless resident
 * @param deviceBytes device memory that it takes; 0 unless resident
 * @param reason why it is not resident, for instance {@code over budget}; null if it is
 */
public record DevicePresence(State state, String placement, long deviceBytes, String reason) {

  /** Whether a segment is on a device. */
  public enum State {
    /** The segment is on the device and is searched there. */
    RESIDENT,
    /** It is queued or being uploaded. */
    WAITING,
    /** The segment is not on the device and is searched on the CPU. */
    REFUSED,
    /** There is no device, or none at the moment. */
    NO_DEVICE;

    /** Returns the name in REST responses, for instance {@code no_device}. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The state of every segment for executors without a device. */
  public static final DevicePresence NO_DEVICE =
      new DevicePresence(State.NO_DEVICE, null, 0, "no device");

  /** The state of every segment while the device answers wrong. */
  public static final DevicePresence WRONG_ANSWERS =
      new DevicePresence(State.NO_DEVICE, null, 0, "wrong answers");

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

  /** The state of a segment on the device. */
  public static DevicePresence resident(String placement, long deviceBytes) {
    return new DevicePresence(State.RESIDENT, placement, deviceBytes, null);
  }

  /** The state of a segment that is queued or being uploaded. */
  public static DevicePresence waiting(String reason) {
    return new DevicePresence(State.WAITING, null, 0, reason);
  }

  /** The state of a segment that is searched on the CPU although there is a device. */
  public static DevicePresence refused(String reason) {
    return new DevicePresence(State.REFUSED, null, 0, reason);
  }
}
