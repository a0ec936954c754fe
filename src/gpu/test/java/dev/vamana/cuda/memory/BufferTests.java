package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.ForwardingDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.driver.SimulatedKernels;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests how buffers grow. */
public class BufferTests extends LuceneTestCase {

  private static final long MEGABYTE = 1L << 20;

  private int allocations;
  private final SimulatedDriver device =
      new SimulatedDriver(SimulatedKernels.NONE, 100 * MEGABYTE, false);
  private final ForwardingDriver driver =
      new ForwardingDriver(device) {
        @Override
        public long allocate(long bytes) {
          allocations++;
          return super.allocate(bytes);
        }

        @Override
        public PinnedMemory allocatePinned(long bytes) {
          allocations++;
          return super.allocatePinned(bytes);
        }
      };

  @Override
  public void setUp() throws Exception {
    super.setUp();
    driver.bind();
  }

  @Override
  public void tearDown() throws Exception {
    assertEquals(0, device.deviceBytes());
    assertEquals(0, device.pinnedBytes());
    driver.close();
    super.tearDown();
  }

  public void testABufferIsCounted() {
    long[] counted = {0};
    DeviceBudget budget =
        new DeviceBudget() {
          @Override
          public boolean reserve(long bytes) {
            boolean fits = counted[0] + bytes <= 6 * MEGABYTE;
            counted[0] += fits ? bytes : 0;
            return fits;
          }

          @Override
          public void release(long bytes) {
            counted[0] -= bytes;
          }
        };
    DeviceBuffer buffer = new DeviceBuffer(driver, budget);
    buffer.ensure(4 * MEGABYTE);
    assertEquals(4 * MEGABYTE, counted[0]);
    buffer.ensure(5 * MEGABYTE);
    assertEquals("no room for twice as much", 5 * MEGABYTE, counted[0]);
    GpuException e = expectThrows(GpuException.class, () -> buffer.ensure(7 * MEGABYTE));
    assertEquals(GpuException.Kind.OUT_OF_MEMORY, e.kind());
    assertEquals(0, counted[0]);
    long large = driver.allocate(98 * MEGABYTE);
    expectThrows(GpuException.class, () -> buffer.ensure(5 * MEGABYTE));
    assertEquals("refused by the driver", 0, counted[0]);
    driver.free(large);
    buffer.ensure(1);
    assertEquals(MEGABYTE, counted[0]);
    buffer.free();
    assertEquals(0, counted[0]);
  }

  public void testWithoutRoomForMoreItGetsWhatItNeeds() {
    DeviceBuffer buffer = new DeviceBuffer(driver, DeviceBudget.UNLIMITED);
    buffer.ensure(60 * MEGABYTE);
    buffer.ensure(61 * MEGABYTE);
    assertEquals(61 * MEGABYTE, buffer.bytes());
    GpuException e = expectThrows(GpuException.class, () -> buffer.ensure(101 * MEGABYTE));
    assertEquals(GpuException.Kind.OUT_OF_MEMORY, e.kind());
    assertEquals(0, buffer.bytes());
    buffer.ensure(1);
    buffer.free();
  }
}
