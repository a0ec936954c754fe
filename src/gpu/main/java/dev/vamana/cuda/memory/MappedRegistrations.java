package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.Cleanup;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Registers mapped pages for the device to read, each page once. {@link DeviceMemory} has one.
 *
 * <p>The driver refuses to register a page twice, but two slices of a compound file may meet in a
 * page. So pages are registered in pieces of at most 1 GiB. A range that overlaps registered pieces
 * shares them and registers only the pages between, and a piece is released with its last range. A
 * range over several pieces is refused if they are not adjacent on the device too.
 *
 * <p>Pinned pages count against a budget of their own. One thread registers; any thread may
 * release.
 */
final class MappedRegistrations {

  /** Page size. */
  static final long PAGE = 4096;

  /** Most bytes that a driver registers in one call. */
  static final long MAX_PIECE = 1L << 30;

  private final Registrar registrar;
  private final MemoryBudget budget;
  private final long maxPiece;
  private final TreeMap<Long, Piece> pieces = new TreeMap<>();
  private volatile boolean succeeded;
  private volatile boolean refused;

  /** Registers pages with a driver. */
  @FunctionalInterface
  interface Registrar {
    CudaDriver.Registration register(long address, long bytes);
  }

  /**
   * Makes an empty registry.
   *
   * @param budget counts the pinned bytes
   * @param maxPiece most bytes registered in one call, whole pages
   */
  MappedRegistrations(Registrar registrar, MemoryBudget budget, long maxPiece) {
    this.registrar = registrar;
    this.budget = budget;
    this.maxPiece = maxPiece;
  }

  /** Pages registered by one driver call. */
  private static final class Piece {
    private final long start;
    private final long end;
    private final CudaDriver.Registration registration;
    private final long device;
    private int ranges;

    Piece(long start, long end, CudaDriver.Registration registration) {
      this.start = start;
      this.end = end;
      this.registration = registration;
      this.device = registration.deviceAddress();
    }
  }

  /** Mapped bytes that the device can read. */
  final class Range {
    private final List<Piece> parts;
    private final long deviceAddress;
    private boolean released;

    private Range(List<Piece> parts, long deviceAddress) {
      this.parts = parts;
      this.deviceAddress = deviceAddress;
    }

    /** Returns the device address of the first byte. */
    long deviceAddress() {
      return deviceAddress;
    }

    /** Ends the use. No kernel may be reading, and the bytes must still be mapped. */
    void release() {
      synchronized (MappedRegistrations.this) {
        if (released == false) {
          released = true;
          releaseAll(parts);
        }
      }
    }
  }

  /**
   * Whether the driver registers read-only mappings, as far as known. It may refuse one mapping and
   * accept others, so one success counts more than any refusal.
   */
  boolean supported() {
    return succeeded || refused == false;
  }

  /**
   * Registers mapped bytes.
   *
   * @param bytes native memory, at least one byte
   * @param abort throws when the work should stop; called before each piece
   * @throws GpuException with {@link GpuException.Kind#NOT_SUPPORTED} if the device cannot read
   *     them as one range, with {@link GpuException.Kind#OUT_OF_MEMORY} if the budget is used up
   */
  Range register(MemorySegment bytes, Runnable abort) {
    long address = bytes.address();
    long from = address & -PAGE;
    long to = (address + bytes.byteSize() + PAGE - 1) & -PAGE;
    List<Piece> parts = new ArrayList<>();
    try {
      for (long at = from; at < to; at = parts.get(parts.size() - 1).end) {
        abort.run();
        Piece piece = share(at);
        if (piece == null) {
          piece = register(at, to);
        }
        parts.add(piece);
        checkAdjoins(parts);
      }
    } catch (RuntimeException e) {
      Cleanup.after(e, () -> releaseAll(parts));
      if (e instanceof GpuException gpu && gpu.kind() == GpuException.Kind.NOT_SUPPORTED) {
        refused = true;
      }
      throw e;
    }
    Piece first = parts.get(0);
    return new Range(parts, first.device + (address - first.start));
  }

  private static void checkAdjoins(List<Piece> parts) {
    if (parts.size() > 1) {
      Piece last = parts.get(parts.size() - 1);
      Piece before = parts.get(parts.size() - 2);
      // the range may begin inside its first piece; every later piece follows the one before
      if (last.device - before.device != last.start - before.start) {
        throw new GpuException(
            GpuException.Kind.NOT_SUPPORTED,
            "mapped pages are side by side for the host, but not for the device");
      }
    }
  }

  private synchronized Piece share(long page) {
    Map.Entry<Long, Piece> entry = pieces.floorEntry(page);
    if (entry == null || entry.getValue().end <= page) {
      return null;
    }
    entry.getValue().ranges++;
    return entry.getValue();
  }

  /** Registers pages from {@code from} up to the next registered page. */
  private Piece register(long from, long to) {
    long end;
    synchronized (this) {
      Long next = pieces.ceilingKey(from);
      end = Math.min(from + maxPiece, next == null ? to : Math.min(to, next));
    }
    if (budget.tryReserve(end - from) == false) {
      throw new GpuException(
          GpuException.Kind.OUT_OF_MEMORY,
          (end - from) + " bytes of page cache do not fit: " + budget);
    }
    Piece piece;
    try {
      // outside the lock, since registering reads pages from disk that are not in memory yet
      piece = new Piece(from, end, registrar.register(from, end - from));
    } catch (Throwable e) {
      budget.release(end - from);
      throw e;
    }
    succeeded = true;
    synchronized (this) {
      piece.ranges = 1;
      pieces.put(from, piece);
    }
    return piece;
  }

  private synchronized void releaseAll(List<Piece> parts) {
    GpuException failure = null;
    for (Piece piece : parts) {
      if (--piece.ranges == 0) {
        pieces.remove(piece.start);
        budget.release(piece.end - piece.start);
        try {
          piece.registration.release();
        } catch (GpuException e) {
          failure = e;
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
