package dev.vamana.tools.batch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import org.junit.Test;

public class BatchOptionsTests {

  @Test
  public void valuesAndDefaults() {
    BatchOptions options =
        BatchOptions.parse(
            "--plugin=p.zip", "--set=s", "--k=200", "--clients=8", "--settings=a.b=c,d=e=f");
    assertEquals(Path.of("p.zip"), options.plugin());
    assertEquals(200, options.k());
    assertEquals(200, options.candidates());
    assertEquals(8, options.clients());
    assertEquals(1000, options.vectors());
    assertEquals(Map.of("a.b", "c", "d", "e=f"), options.settings());
    assertNull(options.data());
  }

  @Test
  public void whatIsWrongIsNamed() {
    assertRefused("plugin", "--set=s");
    assertRefused("set", "--plugin=p.zip");
    assertRefused("vectors is 10001", "--plugin=p.zip", "--set=s", "--vectors=10001");
    assertRefused("candidates is 9", "--plugin=p.zip", "--set=s", "--candidates=9");
    assertRefused("'a'", "--plugin=p.zip", "--set=s", "--settings=a");
  }

  private static void assertRefused(String named, String... arguments) {
    IllegalArgumentException refusal =
        assertThrows(IllegalArgumentException.class, () -> BatchOptions.parse(arguments));
    assertTrue(refusal.getMessage(), refusal.getMessage().contains(named));
  }
}
