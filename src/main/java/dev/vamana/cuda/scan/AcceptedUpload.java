package dev.vamana.cuda.scan;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.vectors.ArrayCopy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;

/**
 * Converts accepted ordinals for exact searches: to a list, or to bitsets on the device. Only the
 * lane's thread uses it.
 */
final class AcceptedUpload {

  private final CudaDriver driver;
  private final DeviceBuffer bits;
  // 0 until first needed
  private long stream;
  private MemorySegment host = MemorySegment.NULL;

  /** Makes an instance without memory. */
  AcceptedUpload(CudaDriver driver) {
    this.driver = driver;
    this.bits = new DeviceBuffer(driver);
  }

  /**
   * Returns the set bits as ascending ordinals.
   *
   * @param expected estimated number of set bits
   */
  static int[] ordinals(Bits accepted, int size, int expected) {
    int[] ordinals = new int[Math.min(size, Math.max(1, expected))];
    int count = 0;
    for (int o = next(accepted, 0, size); o < size; o = next(accepted, o + 1, size)) {
      if (count == ordinals.length) {
        ordinals = Arrays.copyOf(ordinals, (int) Math.min(size, 2L * count));
      }
      ordinals[count++] = o;
    }
    return Arrays.copyOf(ordinals, count);
  }

  /** Returns the first set bit at or after an ordinal, or the size. */
  private static int next(Bits accepted, int from, int size) {
    if (from >= size) {
      return size;
    }
    if (accepted instanceof FixedBitSet own) {
      return Math.min(size, own.nextSetBit(from));
    }
    int o = from;
    while (o < size && accepted.get(o) == false) {
      o++;
    }
    return o;
  }

  /**
   * Accepted ordinals of a segment.
   *
   * @param bits readable by any thread
   * @param size vectors of the segment
   */
  record Accepted(Bits bits, int size) {

    int words() {
      return FixedBitSet.bits2words(size);
    }
  }

  /**
   * Copies bits to the device as 64-bit words, and returns an address for each. Overwrites the
   * earlier bits.
   */
  List<Long> bring(List<Accepted> all) {
    List<Long> addresses = new ArrayList<>();
    long bytes = all.stream().mapToLong(Accepted::words).sum() * Long.BYTES;
    if (bytes == 0) {
      return addresses;
    }
    if (host.byteSize() < bytes) {
      host = Arena.ofAuto().allocate(Math.max(bytes, 2 * host.byteSize()), Long.BYTES);
    }
    long address = bits.ensure(bytes);
    long at = 0;
    for (Accepted accepted : all) {
      long own = (long) accepted.words() * Long.BYTES;
      write(accepted, host.asSlice(at, own));
      addresses.add(address + at);
      at += own;
    }
    if (stream == 0) {
      stream = driver.createStream();
    }
    driver.copyToDevice(address, host.asSlice(0, bytes), stream);
    driver.synchronize(stream);
    return addresses;
  }

  private static void write(Accepted accepted, MemorySegment target) {
    int words = accepted.words();
    if (accepted.bits() instanceof FixedBitSet own && own.getBits().length >= words) {
      ArrayCopy.toMemory(own.getBits(), 0, target, 0, words);
      return;
    }
    target.fill((byte) 0);
    int size = accepted.size();
    for (int o = next(accepted.bits(), 0, size); o < size; o = next(accepted.bits(), o + 1, size)) {
      long word = target.getAtIndex(ValueLayout.JAVA_LONG, o >> 6);
      target.setAtIndex(ValueLayout.JAVA_LONG, o >> 6, word | 1L << o);
    }
  }

  /** Frees everything, which must not be in use. */
  void free() {
    bits.free();
    if (stream != 0) {
      driver.destroyStream(stream);
    }
  }
}
