package dev.vamana.cuda.driver;

import java.util.List;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Which devices an operator's list means. */
public class DeviceListTests extends LuceneTestCase {

  private static String uuid(int ordinal) {
    return "GPU-0000000" + ordinal + "-0000-0000-0000-000000000000";
  }

  private static List<Integer> find(int devices, String... listed) {
    DeviceProbeTests.Devices driver = new DeviceProbeTests.Devices();
    for (int i = 0; i < devices; i++) {
      driver.with(90);
    }
    return new DeviceList(() -> driver).find(List.of(listed));
  }

  private static void assertUnavailable(String message, int devices, String... listed) {
    GpuException e = expectThrows(GpuException.class, () -> find(devices, listed));
    assertEquals(GpuException.Kind.UNAVAILABLE, e.kind());
    assertEquals("no usable GPU: " + message, e.getMessage());
  }

  public void testNumbersAndUuids() {
    assertEquals(List.of(0, 1, 2), find(3, "all"));
    assertEquals(List.of(2, 0), find(3, "2", "0"));
    assertEquals(List.of(2, 0), find(3, "2", uuid(0)));
    assertEquals(List.of(1), find(3, uuid(1)));
    assertEquals(List.of(1), find(3, uuid(1).replace("GPU", "MIG")));
    // a probe will say that there is no such device
    assertEquals(List.of(7), find(3, "7"));
  }

  public void testDevicesThatAreNotThere() {
    String two = "but the driver finds 0 (" + uuid(0) + "), 1 (" + uuid(1) + ")";
    assertUnavailable("device [2] was asked for, " + two, 2, "0", "2");
    assertUnavailable("device [" + uuid(3) + "] was asked for, " + two, 2, uuid(3));
    assertUnavailable(
        "device [" + uuid(1) + "] was asked for twice, as number and UUID, " + two,
        2,
        "1",
        uuid(1));
    assertUnavailable("all devices were asked for, but the driver finds no device", 0, "all");
  }

  public void testAMachineWithoutADriver() {
    DeviceList none =
        new DeviceList(
            () -> {
              throw new UnsatisfiedLinkError("no libcuda");
            });
    GpuException e = expectThrows(GpuException.class, () -> none.find(List.of("all")));
    assertTrue(e.getMessage(), e.getMessage().contains("libcuda.so.1, the NVIDIA driver"));
  }

  public void testAUuidIsWrittenAsTheToolsDo() {
    byte[] bytes = new byte[16];
    for (int i = 0; i < 16; i++) {
      bytes[i] = (byte) (0xF0 + i);
    }
    assertEquals("GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff", DeviceList.uuid(bytes));
  }
}
