package dev.vamana.pq;

import java.util.Arrays;
import java.util.Objects;
import org.apache.lucene.util.StringHelper;

/**
 * Identity of a {@link Codebook}. Codes of two segments may be compared or copied only if their
 * codebooks have equal identities.
 *
 * @param id 16 bytes, unique to one training run
 * @param name a human-readable name, up to {@value #MAX_NAME_LENGTH} UTF-16 units; empty for
 *     codebooks trained locally
 * @param version version of the named codebook, at least 1
 */
// The check warns of shared or identity-compared arrays; this array is copied in and out and
// compared by content.
@SuppressWarnings("ArrayRecordComponent")
public record CodebookId(byte[] id, String name, int version) {

  /** Number of bytes of {@link #id()}. */
  public static final int ID_BYTES = StringHelper.ID_LENGTH;

  /** The longest allowed {@link #name()}. */
  public static final int MAX_NAME_LENGTH = 255;

  /** Copies {@code id}. Throws IllegalArgumentException for a wrong length, name or version. */
  public CodebookId {
    Objects.requireNonNull(id, "id");
    Objects.requireNonNull(name, "name");
    if (id.length != ID_BYTES) {
      throw new IllegalArgumentException(
          "id must have " + ID_BYTES + " bytes, got " + id.length + " bytes");
    }
    if (name.length() > MAX_NAME_LENGTH) {
      throw new IllegalArgumentException(
          "name must have at most " + MAX_NAME_LENGTH + " characters, got " + name.length());
    }
    if (version < 1) {
      throw new IllegalArgumentException("version must be at least 1, got " + version);
    }
    id = id.clone();
  }

  /** Returns a new random identity for a codebook trained on this node: no name, version 1. */
  public static CodebookId random() {
    return new CodebookId(StringHelper.randomId(), "", 1);
  }

  /** Returns a copy of the 16 bytes. */
  @Override
  public byte[] id() {
    return id.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CodebookId that
        && version == that.version
        && name.equals(that.name)
        && Arrays.equals(id, that.id);
  }

  @Override
  public int hashCode() {
    return (Arrays.hashCode(id) * 31 + name.hashCode()) * 31 + version;
  }

  @Override
  public String toString() {
    return "CodebookId["
        + StringHelper.idToString(id)
        + (name.isEmpty() ? "" : ", name=" + name)
        + ", version="
        + version
        + "]";
  }
}
