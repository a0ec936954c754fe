package dev.vamana.stock;

import java.io.EOFException;
import java.io.IOException;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.util.IOSupplier;

/**
 * An input of equally long rows that are made when they are read, so that uploads read what no file
 * holds in this form. A clone or slice has rows of its own for its thread.
 */
final class RowInput extends IndexInput {

  /** Makes rows, for one thread. */
  @FunctionalInterface
  interface Rows {
    /** Fills {@code bytes} with a row, little-endian. */
    void read(int row, byte[] bytes) throws IOException;
  }

  private final IOSupplier<Rows> source;
  private final int width;
  private final long start;
  private final long length;
  private Rows rows;
  private byte[] row;
  private int current = -1;
  private long position;

  /**
   * Makes an input.
   *
   * @param name for messages
   * @param count number of rows
   * @param width bytes of a row, at least 1
   */
  RowInput(String name, IOSupplier<Rows> source, int count, int width) {
    this(name, source, width, 0, (long) count * width);
  }

  private RowInput(String name, IOSupplier<Rows> source, int width, long start, long length) {
    super(name);
    this.source = source;
    this.width = width;
    this.start = start;
    this.length = length;
  }

  @Override
  public void readBytes(byte[] bytes, int offset, int count) throws IOException {
    if (count > length - position) {
      throw new EOFException("read past the end of " + this);
    }
    if (rows == null) {
      rows = source.get();
      row = new byte[width];
    }
    for (int done = 0; done < count; ) {
      long at = start + position;
      int wanted = (int) (at / width);
      if (wanted != current) {
        rows.read(wanted, row);
        current = wanted;
      }
      int from = (int) (at % width);
      int part = Math.min(width - from, count - done);
      System.arraycopy(row, from, bytes, offset + done, part);
      done += part;
      position += part;
    }
  }

  @Override
  public byte readByte() throws IOException {
    byte[] single = new byte[1];
    readBytes(single, 0, 1);
    return single[0];
  }

  @Override
  public long getFilePointer() {
    return position;
  }

  @Override
  public void seek(long to) throws IOException {
    if (to < 0 || to > length) {
      throw new EOFException("seek to " + to + " in " + this);
    }
    position = to;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public IndexInput slice(String description, long offset, long bytes) {
    if (offset < 0 || bytes < 0 || offset > length - bytes) {
      throw new IllegalArgumentException(
          "slice [" + offset + ", +" + bytes + ") is outside of " + this);
    }
    return new RowInput(getFullSliceDescription(description), source, width, start + offset, bytes);
  }

  @Override
  public RowInput clone() {
    RowInput copy = new RowInput(toString(), source, width, start, length);
    copy.position = position;
    return copy;
  }

  @Override
  public void close() {}
}
