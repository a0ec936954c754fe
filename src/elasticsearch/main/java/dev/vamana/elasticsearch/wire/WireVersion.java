package dev.vamana.elasticsearch.wire;

import java.io.IOException;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;

/**
 * Version of the plugin's requests and responses between nodes. Elasticsearch's own version does
 * not tell which release of the plugin a node runs, so each message begins with this one.
 *
 * <p>The rule for a change: raise {@link #CURRENT}, write the new field behind all others, and read
 * it only if the message's version has it. A node then reads older messages with a default for the
 * field, and passes over the fields of newer messages:
 *
 * <pre>{@code
 * int version = WireVersion.read(in);
 * name = in.readString();
 * size = version >= 2 ? in.readVInt() : DEFAULT_SIZE;
 * WireVersion.end(in, version);
 * }</pre>
 */
public final class WireVersion {
  /** Version that this release writes. */
  public static final int CURRENT = 1;

  private WireVersion() {}

  /** Begins a message; call it behind {@code super.writeTo(out)}. */
  public static void write(StreamOutput out) throws IOException {
    out.writeVInt(CURRENT);
  }

  /**
   * Returns the version that the sender writes, which may be newer than {@link #CURRENT}.
   *
   * @throws IOException if the bytes are no message of the plugin
   */
  public static int read(StreamInput in) throws IOException {
    int version = in.readVInt();
    if (version < 1) {
      throw new IOException("a message of the plugin has version " + version + ", not 1 or more");
    }
    return version;
  }

  /**
   * Ends a message: passes over fields that a newer node appended. Only for whole requests and
   * responses, because all that is left of the stream counts as the message's.
   */
  public static void end(StreamInput in, int version) throws IOException {
    if (version > CURRENT) {
      in.skipNBytes(in.available());
    }
  }
}
