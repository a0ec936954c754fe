package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Mapped pages that the device may read, each registered once.
 *
 * <p>The driver refuses to register a page twice, but two slices of a compound file may meet in a
 * page. So pages are registered in pieces of at most 1 GiB; a range that overlaps pieces which are
 * there already shares them and registers only the pages between, and a piece is released with the
 * last range that it is part of. Pages that are mapped side by side have to be side by side for the
 * device, too, or a range over several pieces is refused.
 *
 * <p>Pinned pages count against a budget of their own. One thread registers, any may release.
 */
final class MappedRegistrations {

  /** Size of a page. */
  static final long PAGE = 4096;

  private static final long MAX_PIECE = 1L << 30;

  private final CudaDriver driver;
  private final MemoryBudget budget;
  private final long maxPiece;
  private final TreeMap<Long, Piece> pieces = new TreeMap<>();
  private volatile boolean succeeded;
  private volatile boolean refused;

  /**
   * Makes an empty registry.
   *
   * @param budget counts the pinned bytes
   */
  MappedRegistrations(CudaDriver driver, MemoryBudget budget) {
    this(driver, budget, MAX_PIECE);
  }

  /**
   * Makes an empty registry.
   *
   * @param maxPiece most bytes registered in one call, whole pages
   */
  MappedRegistrations(CudaDriver driver, MemoryBudget budget, long maxPiece) {
    this.driver = driver;
    this.budget = budget;
    this.maxPiece = maxPiece;
  }

  /** Some pages that are registered as one. */
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

    /** Where the device sees the first byte. */
    long deviceAddress() {
      return deviceAddress;
    }

    /** Ends it; no kernel may be reading, and the bytes still have to be mapped. */
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
   * Whether the driver registers read-only mappings, as far as has been seen: it may refuse one but
   * not others.
   */
  boolean supported() {
    return succeeded || refused == false;
  }

  /**
   * Lets the device read mapped bytes.
   *
   * @param bytes native memory, at least one byte
   * @param abort throws when the work should stop; asked before each piece
   * @throws GpuException with {@link GpuException.Kind#NOT_SUPPORTED} if the device cannot read
   *     them as one range, with {@link GpuException.Kind#OUT_OF_MEMORY} if the budget is used up
   */
  Range register(MemorySegment bytes, Runnable abort) {
    long from = bytes.address() & -PAGE;
    long to = (bytes.address() + bytes.byteSize() + PAGE - 1) & -PAGE;
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
      try {
        releaseAll(parts);
      } catch (GpuException suppressed) {
        e.addSuppressed(suppressed);
      }
      if (e instanceof GpuException gpu && gpu.kind() == GpuException.Kind.NOT_SUPPORTED) {
        refused = true;
      }
      throw e;
    }
    Piece first = parts.get(0);
    return new Range(parts, first.device + (bytes.address() - first.start));
  }

  private static void checkAdjoins(List<Piece> parts) {
    if (parts.size() > 1) {
      Piece last = parts.get(parts.size() - 1);
      Piece before = parts.get(parts.size() - 2);
      // the first range may begin in the middle of a piece, all others follow their neighbour
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

  /** Registers the pages from the first on, up to the next that is registered already. */
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
    Piece piece = null;
    try {
      // not under the lock: pages that are not in memory yet are read from disk now
      piece = new Piece(from, end, driver.register(from, end - from));
    } finally {
      if (piece == null) {
        budget.release(end - from);
      }
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
