package dev.vamana.elasticsearch.codebook.ingest;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertNull;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.Test;

public class VectorValueTests {
  private static final byte[] BYTES =
      ByteBuffer.allocate(12).putFloat(1.5f).putFloat(-2f).putFloat(3f).array();
  private static final float[] VECTOR = {1.5f, -2f, 3f};

  @Test
  public void testForms() {
    assertArrayEquals(VECTOR, VectorValue.parse(List.of(1.5, -2, 3L), 3), 0f);
    assertArrayEquals(VECTOR, VectorValue.parse(Base64.getEncoder().encodeToString(BYTES), 3), 0f);
    assertArrayEquals(VECTOR, VectorValue.parse(BYTES, 3), 0f);
  }

  @Test
  public void testOthers() {
    for (Object value :
        Arrays.asList(
            List.of(1, 2),
            List.of(1, 2, 3, 4),
            List.of(),
            List.of("1", "2", "3"),
            Arrays.asList(1, 2, null),
            List.of(List.of(1, 2, 3)),
            "",
            "3f",
            "not Base64!",
            Map.of("x", 1),
            1.5,
            true,
            null)) {
      assertNull(String.valueOf(value), VectorValue.parse(value, 3));
    }
    assertNull(VectorValue.parse(BYTES, 4));
  }
}
