package dev.vamana.elasticsearch.gpu;

import dev.vamana.elasticsearch.monitor.ShardsRequest;
import java.io.IOException;
import java.util.Locale;
import org.elasticsearch.action.ActionRequestValidationException;
import org.elasticsearch.action.ValidateActions;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.core.TimeValue;

/** Asks the nodes that hold indices to upload the indices' segments to the device. */
public final class WarmupRequest extends ShardsRequest<WarmupRequest> {

  /** Default of the time to wait for uploads. */
  public static final TimeValue DEFAULT_TIMEOUT = TimeValue.timeValueMinutes(1);

  private static final TimeValue MAX_TIMEOUT = TimeValue.timeValueHours(1);

  private TimeValue uploadTimeout = DEFAULT_TIMEOUT;
  private boolean waitForCompletion = true;

  /** Makes a request for some indices, by name, alias or pattern. */
  public WarmupRequest(String... indices) {
    super(indices);
    // the timeout of the transport would drop a node that is still uploading
    timeout(null);
  }

  /** Reads what {@link #writeTo} wrote. */
  public WarmupRequest(StreamInput in) throws IOException {
    super(in);
    uploadTimeout = in.readTimeValue();
    waitForCompletion = in.readBoolean();
  }

  /**
   * Sets how long to wait for the uploads of each shard, 0 to an hour. Later uploads continue in
   * the background.
   */
  public WarmupRequest uploadTimeout(TimeValue newTimeout) {
    uploadTimeout = newTimeout;
    return this;
  }

  /** How long to wait for the uploads of each shard. */
  public TimeValue uploadTimeout() {
    return uploadTimeout;
  }

  /** Sets whether to wait for uploads at all. */
  public WarmupRequest waitForCompletion(boolean wait) {
    waitForCompletion = wait;
    return this;
  }

  /** Whether to wait for uploads at all. */
  public boolean waitForCompletion() {
    return waitForCompletion;
  }

  @Override
  public ActionRequestValidationException validate() {
    if (uploadTimeout.nanos() < 0 || uploadTimeout.compareTo(MAX_TIMEOUT) > 0) {
      return ValidateActions.addValidationError(
          String.format(
              Locale.ROOT,
              "[timeout] must be between [0] and [%s], got [%s]",
              MAX_TIMEOUT,
              uploadTimeout),
          super.validate());
    }
    return super.validate();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeTimeValue(uploadTimeout);
    out.writeBoolean(waitForCompletion);
  }

  @Override
  public String getDescription() {
    return super.getDescription() + ", timeout[" + uploadTimeout + "]";
  }
}
