package dev.vamana.tools.demo;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.util.Map;
import org.junit.Test;

/** Tests how the demo reads a node's statistics, and how it reports who answered. */
public class GpuStatusTests {

  private static GpuStatus status(String json) throws IOException {
    return GpuStatus.of(JSON.std.mapFrom(json.replace('\'', '"')));
  }

  @Test
  public void testNoGpu() throws IOException {
    GpuStatus status =
        status(
            "{'state': {'enabled': 'auto', 'state': 'unavailable', 'usable': false, 'reason':"
                + " 'libcuda.so.1 is not there; looked in a, b'}, 'executor': {'items':"
                + " {'by_placement': {}, 'on_cpu': {'no_device': 12, 'scan': 0}}}}");
    assertFalse(status.usable());
    String remedies =
        " If this machine has one, see docs/operators/troubleshooting.md#the-gpu-is-not-used.";
    assertEquals(
        "No GPU was used: libcuda.so.1 is not there; looked in a, b." + remedies, status.line());
    assertEquals("CPU", status.answered().cell(false));
    assertEquals(0, status.answered().gpuShare(), 0);
    String words = "word ".repeat(60);
    String line = status("{'state': {'usable': false, 'reason': '" + words + "'}}").line();
    assertTrue(line, line.length() < 320 && line.endsWith("word ...." + remedies));
    assertEquals("No GPU was used: the node does not say why." + remedies, status("{}").line());
    // what was found comes first, and what is lacking second
    String lacking = "device 0 is an NVIDIA T9; this plugin was built without kernels";
    line = status("{'state': {'usable': false, 'reason': '" + lacking + ": set x'}}").line();
    assertEquals("No GPU was used: " + lacking + "." + remedies, line);
  }

  @Test
  public void testGpu() throws IOException {
    GpuStatus before =
        status(
            "{'state': {'usable': true}, 'devices': [{'name': 'NVIDIA T9'}], 'residency': {'segments':"
                + " {'waiting': 1}}, 'executor': {'items': {'by_placement': {'in-memory': 10},"
                + " 'on_cpu': {'not_resident': 5}}}}");
    assertTrue(before.usable());
    assertEquals(1, before.waiting());
    assertEquals("GPU: NVIDIA T9.", before.line());
    GpuStatus now =
        status(
            "{'state': {'usable': true}, 'executor': {'items': {'by_placement': {'exact': 1,"
                + " 'in-memory': 105}, 'on_cpu': {'not_resident': 5, 'planned': 4}}}}");
    Answered answered = now.answered().since(before.answered());
    assertEquals(Map.of("exact", 1L, "in-memory", 95L), answered.byPlacement());
    assertEquals(Map.of("planned", 4L), answered.onCpu());
    assertEquals(0.96, answered.gpuShare(), 1e-12);
    assertEquals("GPU (in-memory, exact) 96.0%, CPU (planned) 4.0%", answered.cell(true));
    Answered planned = new Answered(Map.of(), Map.of("planned", 3L));
    assertEquals("CPU (planned)", planned.cell(true));
    assertEquals("CPU", planned.cell(false));
    Answered all = new Answered(Map.of("in-memory", 3L), Map.of());
    assertEquals("GPU (in-memory) 100%", all.cell(true));
    assertEquals(98, answered.and(all).byPlacement().get("in-memory").longValue());
    assertEquals("CPU", Answered.NOBODY.cell(true));
  }
}
