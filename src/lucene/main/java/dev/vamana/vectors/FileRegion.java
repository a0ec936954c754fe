package dev.vamana.vectors;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.store.FilterIndexInput;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.MemorySegmentAccessInput;

/**
 * A contiguous range of bytes in a segment file. Any number of threads may read it.
 *
 * <p>If the directory maps the file, {@link #segment()} is the mapping itself, which a device can
 * read without a copy. Directories that do not map files (NIO, in-memory, test wrappers) return
 * null from {@link #segment()}; {@link #open()} reads those.
 */
public final class FileRegion {

  private final IndexInput input;
  private final long offset;
  private final long length;
  private final MemorySegment segment;

  private FileRegion(IndexInput input, long offset, long length, MemorySegment segment) {
    this.input = input;
    this.offset = offset;
    this.length = length;
    this.segment = segment;
  }

  /**
   * Makes a region of an open file.
   *
   * @param input an open input of the file; the caller owns it and closes it after the last read
   * @param offset first byte of the region
   * @param length bytes in the region, 0 or more
   * @throws CorruptIndexException if the region does not lie within the file
   */
  public static FileRegion of(IndexInput input, long offset, long length) throws IOException {
    if (offset < 0 || length < 0 || offset > input.length() - length) {
      throw new CorruptIndexException(
          "region ["
              + offset
              + ", +"
              + length
              + ") is outside the file of "
              + input.length()
              + " bytes",
          input);
    }
    MemorySegment segment = null;
    if (FilterIndexInput.unwrap(input) instanceof MemorySegmentAccessInput mapped) {
      segment = mapped.segmentSliceOrNull(offset, length);
    }
    return new FileRegion(input, offset, length, segment);
  }

  /**
   * Makes a region that is read through the input alone, because its file may be closed while a
   * device reads the mapping, or because it is no file.
   */
  public static FileRegion unmapped(IndexInput input, long offset, long length) {
    return new FileRegion(input, offset, length, null);
  }

  /** Length of the region in bytes. */
  public long length() {
    return length;
  }

  /** First byte of the region in its file. */
  public long offset() {
    return offset;
  }

  /** The mapped bytes of the region, or null if the directory does not map them. */
  public MemorySegment segment() {
    return segment;
  }

  /** Opens a new input over the region, for the calling thread alone. */
  public IndexInput open() throws IOException {
    return input.slice("region", offset, length);
  }

  @Override
  public String toString() {
    return "FileRegion[" + input + ", offset=" + offset + ", length=" + length + "]";
  }
}
