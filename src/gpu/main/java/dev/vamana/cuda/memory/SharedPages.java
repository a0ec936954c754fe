package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.ForwardingDriver;
import dev.vamana.cuda.driver.GpuException;
import java.io.Closeable;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Registers mapped pages once for all devices of the process, and counts the pinned pages of all in
 * one account. {@link #of} gives each context a driver that registers here.
 *
 * <p>A registration ends with the context that made it, and a context may be lost. So a context of
 * its own, in which no kernel ever runs, registers pages as portable; the others ask the driver for
 * their address. It is opened for the first page. If it is lost all the same, the next page is
 * registered by another; pages that the lost one had registered are refused until nobody reads them
 * any more. Thread-safe; one thread registers at a time.
 */
public final class SharedPages implements Closeable {

  private final Supplier<CudaDriver> contexts;
  private final MemoryBudget budget;
  private final long hostBytes;
  private final Object registering = new Object();
  private final List<CudaDriver> lost = new ArrayList<>();
  private Keeper keeper;

  /** The context that registers pages, and the pages. */
  private record Keeper(CudaDriver driver, MappedRegistrations pages) {}

  /**
   * Makes an account without pages.
   *
   * @param contexts opens the context that registers pages
   * @param limit most pinned pages of all devices together
   * @param hostBytes memory of the host, to which a share in {@code limit} refers
   */
  public SharedPages(Supplier<CudaDriver> contexts, MemoryLimit limit, long hostBytes) {
    this.contexts = contexts;
    this.hostBytes = hostBytes;
    this.budget = new MemoryBudget("pinned page cache of all devices", limit.of(hostBytes));
  }

  /** Sets another limit. Pages above it stay until their segments go. */
  public void limit(MemoryLimit limit) {
    budget.limit(limit.of(hostBytes));
  }

  /** Returns the bytes of all pinned pages, each counted once. */
  public long used() {
    return budget.used();
  }

  /** Returns a driver that forwards to another, but registers here. */
  public CudaDriver of(CudaDriver driver) {
    return new Sharing(driver);
  }

  private MappedRegistrations.Range register(long address, long bytes) {
    synchronized (registering) {
      Keeper current = keeper();
      current.driver.bind();
      try {
        return current.pages.register(address, bytes, () -> {});
      } catch (GpuException e) {
        if (e.contextLost()) {
          lost.add(current.driver);
          keeper = null;
        }
        throw e.contextLost()
            // not the context of the device that asked
            ? new GpuException(GpuException.Kind.FAILED, "registering pages: " + e.getMessage(), e)
            : e;
      }
    }
  }

  private Keeper keeper() {
    if (keeper == null) {
      CudaDriver driver = contexts.get();
      keeper =
          new Keeper(
              driver,
              new MappedRegistrations(
                  driver::registerForAll, budget, MappedRegistrations.MAX_PIECE));
    }
    return keeper;
  }

  /** Ends the context that registers. All devices have to be closed. */
  @Override
  public void close() {
    synchronized (registering) {
      lost.forEach(CudaDriver::close);
      lost.clear();
      if (keeper != null) {
        keeper.driver.close();
        keeper = null;
      }
    }
  }

  /** The driver of one device. */
  private final class Sharing extends ForwardingDriver {

    private final Set<Shared> held = ConcurrentHashMap.newKeySet();

    Sharing(CudaDriver driver) {
      super(driver);
    }

    @Override
    public Registration register(long address, long bytes) {
      CudaDriver registrar;
      MappedRegistrations.Range range;
      try {
        synchronized (registering) {
          range = SharedPages.this.register(address, bytes);
          registrar = keeper.driver;
        }
      } finally {
        driver.bind();
      }
      try {
        long own = driver.addressOfRegistered(address);
        for (long start : range.starts()) {
          if (start > address && driver.addressOfRegistered(start) - own != start - address) {
            throw new GpuException(
                GpuException.Kind.NOT_SUPPORTED,
                "mapped pages are side by side for the host, but not for the device");
          }
        }
        Shared shared = new Shared(this, range, registrar, own);
        held.add(shared);
        return shared;
      } catch (Throwable e) {
        release(range, registrar);
        throw e;
      }
    }

    private void release(MappedRegistrations.Range range, CudaDriver registrar) {
      try {
        registrar.bind();
        range.release();
      } finally {
        driver.bind();
      }
    }

    /** A lost context's pages are not released by those who had them. */
    @Override
    public void close() {
      try {
        driver.close();
      } finally {
        for (Shared shared : held) {
          try {
            shared.registrar.bind();
            shared.range.release();
          } catch (GpuException e) {
            // the context that had registered is lost as well, and its pages with it
          }
        }
        held.clear();
      }
    }
  }

  /** The pages of one registration, as one device reads them. */
  private static final class Shared implements CudaDriver.Registration {
    private final Sharing device;
    private final MappedRegistrations.Range range;
    private final CudaDriver registrar;
    private final long address;
    private final AtomicBoolean released = new AtomicBoolean();

    Shared(Sharing device, MappedRegistrations.Range range, CudaDriver registrar, long address) {
      this.device = device;
      this.range = range;
      this.registrar = registrar;
      this.address = address;
    }

    @Override
    public long deviceAddress() {
      return address;
    }

    @Override
    public void release() {
      if (released.getAndSet(true)) {
        throw new IllegalStateException("registered pages are released twice");
      }
      device.held.remove(this);
      device.release(range, registrar);
    }
  }
}
