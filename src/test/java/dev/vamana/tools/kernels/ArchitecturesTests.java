package dev.vamana.tools.kernels;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.Test;

/** Which compute capabilities a build compiles for. */
public class ArchitecturesTests {

  private static final List<Map.Entry<String, Integer>> DEVICES =
      List.of(Map.entry("T4", 75), Map.entry("P100", 60), Map.entry("H200", 90));

  @Test
  public void theDevicesThatAreThere() {
    Architectures found = Architectures.of("auto", DEVICES);
    assertEquals("[75, 90]", found.machineCode().toString());
    assertEquals(0, found.ptx());
    assertTrue(found.reason(), found.reason().contains("P100 of compute capability 6.0 (too old"));
    assertEquals("7.5, 9.0", found.describe());
    Architectures none = Architectures.of("auto", List.of());
    assertTrue(none.machineCode().isEmpty());
    assertEquals("this machine has no NVIDIA GPU", none.reason());
    assertTrue(Architectures.of("none", DEVICES).machineCode().isEmpty());
  }

  @Test
  public void theDevicesThatAreAskedFor() {
    assertEquals("[86, 120]", Architectures.of("120 86", DEVICES).machineCode().toString());
    Architectures withPtx = Architectures.of("90+ptx,100", List.of());
    assertEquals("[90, 100]", withPtx.machineCode().toString());
    assertEquals(90, withPtx.ptx());
    Architectures all = Architectures.of("all", List.of());
    assertEquals("[75, 80, 86, 89, 90, 100, 120]", all.machineCode().toString());
    assertEquals(120, all.ptx());
  }

  @Test
  public void whatIsNoArchitecture() {
    for (String wrong : List.of("9.0", "sm_90", "70", "ptx", "90,+ptx", "")) {
      IllegalArgumentException e =
          assertThrows(
              wrong, IllegalArgumentException.class, () -> Architectures.of(wrong, DEVICES));
      assertTrue(e.getMessage(), e.getMessage().contains("'" + wrong + "'"));
      assertTrue(e.getMessage(), e.getMessage().contains("cuda.architectures"));
    }
  }

  @Test
  public void resourcesOfKernels() {
    String log =
        """
        ptxas info    : 20 bytes gmem
        ptxas info    : Compiling entry function 'walk_w1' for 'sm_90'
        ptxas info    : Function properties for walk_w1
        ptxas         .     8 bytes stack frame, 4 bytes spill stores, 2 bytes spill loads
        ptxas info    : Used 31 registers, used 0 barriers
        ptxas info    : Compiling entry function 'walk_w2' for 'sm_90'
        ptxas info    : Function properties for walk_w2
            0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
        ptxas info    : Used 64 registers, used 1 barriers
        """;
    assertEquals(
        List.of("walk sm_90 walk_w1 31 8 4 2", "walk sm_90 walk_w2 64 0 0 0"),
        ResourceReport.lines("walk", 90, log));
  }
}
