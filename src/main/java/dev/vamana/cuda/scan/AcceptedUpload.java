package dev.vamana.cuda.scan;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.memory.DeviceBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;

/**
 * Converts accepted ordinals for exact searches: to a list, or to a bitset on the device. Only the
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
   * Copies the bits to the device as 64-bit words and returns their address. Overwrites the earlier
   * bits.
   */
  long bring(Bits accepted, int size) {
    int words = FixedBitSet.bits2words(size);
    long bytes = (long) words * Long.BYTES;
    if (host.byteSize() < bytes) {
      host = Arena.ofAuto().allocate(bytes, Long.BYTES);
    }
    if (accepted instanceof FixedBitSet own && own.getBits().length >= words) {
      MemorySegment.copy(own.getBits(), 0, host, ValueLayout.JAVA_LONG, 0, words);
    } else {
      host.asSlice(0, bytes).fill((byte) 0);
      for (int o = next(accepted, 0, size); o < size; o = next(accepted, o + 1, size)) {
        long word = host.getAtIndex(ValueLayout.JAVA_LONG, o >> 6);
        host.setAtIndex(ValueLayout.JAVA_LONG, o >> 6, word | 1L << o);
      }
    }
    if (stream == 0) {
      stream = driver.createStream();
    }
    long address = bits.ensure(bytes);
    driver.copyToDevice(address, host.asSlice(0, bytes), stream);
    driver.synchronize(stream);
    return address;
  }

  /** Frees everything, which must not be in use. */
  void free() {
    bits.free();
    if (stream != 0) {
      driver.destroyStream(stream);
    }
  }
}
