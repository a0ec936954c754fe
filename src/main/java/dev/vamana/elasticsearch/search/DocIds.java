package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.util.ArrayUtil;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.index.mapper.Uid;

/**
 * Ids of many documents in UTF-8, one after the other in one array: a fifth of the memory of
 * strings, and close together, since reading strings from all over the heap costs more than
 * everything else that happens to an id.
 */
public final class DocIds implements Writeable {

  /** First byte of a stored id of decimal digits, two of them in each following byte. */
  private static final int NUMERIC = 0xfe;

  /** First byte of a stored id in UTF-8. */
  private static final int UTF8 = 0xff;

  private static final int NO_DIGIT = 0x0f;

  /** Expected bytes of an id. */
  private static final int EXPECTED_BYTES = 8;

  private final byte[] utf8;
  private final int[] ends;
  private final boolean plain;

  private DocIds(byte[] utf8, int[] ends) {
    this.utf8 = utf8;
    this.ends = ends;
    this.plain = isPlain(utf8, size() == 0 ? 0 : ends[size() - 1]);
  }

  private static boolean isPlain(byte[] utf8, int length) {
    boolean plain = true;
    for (int i = 0; i < length; i++) {
      byte b = utf8[i];
      plain &= b >= ' ' && b <= '~' && b != '"' && b != '\\';
    }
    return plain;
  }

  /** Makes ids of strings. */
  public static DocIds of(String... ids) {
    Builder builder = new Builder(ids.length);
    for (String id : ids) {
      byte[] bytes = id.getBytes(StandardCharsets.UTF_8);
      builder.add(bytes, 0, bytes.length);
    }
    return builder.build();
  }

  /** Returns several lists of ids as one. */
  static DocIds concat(List<DocIds> parts) {
    if (parts.size() == 1) {
      return parts.get(0);
    }
    Builder builder = new Builder(parts.stream().mapToInt(DocIds::size).sum());
    for (DocIds part : parts) {
      for (int i = 0; i < part.size(); i++) {
        builder.add(part, i);
      }
    }
    return builder.build();
  }

  /** Collects ids. */
  static final class Builder {
    private byte[] utf8;
    private int[] ends;
    private int count;
    private int length;

    /**
     * Makes a builder.
     *
     * @param expected expected number of ids
     */
    Builder(int expected) {
      utf8 = new byte[expected * EXPECTED_BYTES];
      ends = new int[expected];
    }

    /** Adds an id in UTF-8. */
    void add(byte[] bytes, int offset, int count) {
      int to = room(count);
      System.arraycopy(bytes, offset, utf8, to, count);
      end(length + count);
    }

    /** Adds an id of a list. */
    void add(DocIds ids, int i) {
      int start = ids.start(i);
      add(ids.utf8, start, ids.ends[i] - start);
    }

    /** Adds an id as Elasticsearch stores it. */
    void addStored(byte[] stored, int offset, int size) {
      int first = size == 0 ? 0 : stored[offset] & 0xff;
      if (first == NUMERIC) {
        int next = room(2 * size);
        for (int i = 1; i < size; i++) {
          int digits = stored[offset + i] & 0xff;
          utf8[next++] = (byte) ('0' + (digits >>> 4));
          if ((digits & NO_DIGIT) != NO_DIGIT) {
            utf8[next++] = (byte) ('0' + (digits & NO_DIGIT));
          }
        }
        end(next);
      } else if (first == UTF8) {
        add(stored, offset + 1, size - 1);
      } else {
        byte[] bytes = Uid.decodeId(stored, offset, size).getBytes(StandardCharsets.UTF_8);
        add(bytes, 0, bytes.length);
      }
    }

    /** Makes room for bytes, and returns where they go. */
    private int room(int more) {
      int needed = Math.addExact(length, more);
      if (needed > utf8.length) {
        utf8 = ArrayUtil.grow(utf8, needed);
      }
      return length;
    }

    private void end(int to) {
      if (count == ends.length) {
        ends = ArrayUtil.grow(ends, count + 1);
      }
      length = to;
      ends[count++] = to;
    }

    /** The number of ids so far. */
    int size() {
      return count;
    }

    /** The ids; the builder must not be used afterwards. */
    DocIds build() {
      return new DocIds(
          Arrays.copyOf(utf8, length), count == ends.length ? ends : Arrays.copyOf(ends, count));
    }
  }

  static DocIds readFrom(StreamInput in) throws IOException {
    return new DocIds(in.readByteArray(), in.readVIntArray());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeByteArray(utf8);
    out.writeVIntArray(ends);
  }

  /** Number of ids. */
  int size() {
    return ends.length;
  }

  private int start(int i) {
    return i == 0 ? 0 : ends[i - 1];
  }

  /** Returns an id. */
  String get(int i) {
    int start = start(i);
    return new String(utf8, start, ends[i] - start, StandardCharsets.UTF_8);
  }

  /**
   * Adds an id to a row.
   *
   * @return false if an id has characters that JSON does not write as they are; then the text must
   *     not be used
   */
  boolean addTo(ColumnText text, int i) {
    if (plain == false) {
      return false;
    }
    int start = start(i);
    text.addQuoted(utf8, start, ends[i] - start);
    return true;
  }

  /** Memory of the ids in bytes. */
  long ramBytesUsed() {
    return utf8.length + (long) ends.length * Integer.BYTES;
  }
}
