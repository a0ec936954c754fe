package dev.vamana.cuda.scan;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.ResidentBits;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
  // bits beside segments that the current search reads
  private final List<ResidentBits.Place> held = new ArrayList<>();
  private final List<Fresh> fresh = new ArrayList<>();
  // 0 until first needed
  private long stream;
  private MemorySegment host = MemorySegment.NULL;

  /** Bits that are to be copied, beside the segment or to scratch. */
  private record Fresh(ScanTicket.Job job, ResidentBits.Place place, int index) {}

  /** Makes an instance without memory. */
  AcceptedUpload(CudaDriver driver, DeviceBudget budget) {
    this.driver = driver;
    this.bits = new DeviceBuffer(driver, budget);
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
   * Returns the device address of the accepted ordinals of each job, as 64-bit words. Bits that the
   * segment has already are not copied. Others are copied beside the segment if a later search will
   * bring the same object. All addresses are valid until {@link #release}.
   */
  List<Long> bring(List<ScanTicket.Job> jobs) {
    List<Long> addresses = new ArrayList<>();
    long scratch = 0;
    long bytes = 0;
    for (ScanTicket.Job job : jobs) {
      ResidentBits places = job.segment().bits();
      ResidentBits.Place there = places.find(job.accepted());
      ResidentBits.Place place = there == null && comesAgain(job) ? places.reserve() : there;
      if (place != null) {
        held.add(place);
      }
      if (there == null) {
        fresh.add(new Fresh(job, place, addresses.size()));
        bytes += bytes(job);
        scratch += place == null ? bytes(job) : 0;
      }
      addresses.add(place == null ? 0 : place.address());
    }
    if (bytes > 0) {
      copy(addresses, bytes, scratch);
    }
    return addresses;
  }

  private static boolean comesAgain(ScanTicket.Job job) {
    return job.segment().view().acceptedOrdinals().shared(job.accepted()) != null;
  }

  private void copy(List<Long> addresses, long bytes, long scratch) {
    if (host.byteSize() < bytes) {
      host = Arena.ofAuto().allocate(Math.max(bytes, 2 * host.byteSize()), Long.BYTES);
    }
    if (stream == 0) {
      stream = driver.createStream();
    }
    long next = scratch == 0 ? 0 : bits.ensure(scratch);
    long at = 0;
    for (Fresh each : fresh) {
      long own = bytes(each.job);
      MemorySegment source = host.asSlice(at, own);
      ResidentBits.write(each.job.accepted(), each.job.segment().view().size(), source);
      if (each.place == null) {
        addresses.set(each.index, next);
        next += own;
      }
      driver.copyToDevice(addresses.get(each.index), source, stream);
      at += own;
    }
    driver.synchronize(stream);
    for (Fresh each : fresh) {
      if (each.place != null) {
        each.place.filled(each.job.accepted());
      }
    }
    fresh.clear();
  }

  /** Ends the uses of bits beside segments. */
  void release() {
    held.forEach(ResidentBits.Place::release);
    held.clear();
    fresh.clear();
  }

  private static long bytes(ScanTicket.Job job) {
    return ResidentBits.bytes(job.segment().view().size());
  }

  /** Frees everything, which must not be in use. */
  void free() {
    bits.free();
    if (stream != 0) {
      driver.destroyStream(stream);
    }
  }
}
