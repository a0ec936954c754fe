package dev.vamana.elasticsearch.search;

import static org.junit.Assert.assertEquals;

import com.carrotsearch.randomizedtesting.RandomizedTest;
import java.nio.charset.StandardCharsets;
import org.junit.Test;

public class ShortestFloatTests extends RandomizedTest {
  private static final int COUNT = 200_000;

  private static void assertSame(float value) {
    byte[] out = new byte[ShortestFloat.MOST_BYTES + 2];
    out[0] = '<';
    int end = ShortestFloat.write(value, out, 1);
    String text = new String(out, 0, end, StandardCharsets.US_ASCII);
    assertEquals("<" + Float.toString(value), text);
  }

  @Test
  public void testAllKindsOfFloats() {
    for (int i = 0; i < COUNT; i++) {
      float value = Float.intBitsToFloat(getRandom().nextInt());
      if (Float.isFinite(value)) {
        assertSame(value);
      }
    }
  }

  @Test
  public void testScores() {
    for (int i = 0; i < COUNT; i++) {
      assertSame(getRandom().nextFloat());
      assertSame(1 / (1f + getRandom().nextInt(1 << 20)));
      assertSame(getRandom().nextInt(1 << 24));
      assertSame(getRandom().nextInt(100_000) / 1000f);
    }
  }

  @Test
  public void testEdges() {
    float[] values = {
      0f,
      -0f,
      1f,
      2f,
      0.02f,
      9.999999e-4f,
      1e-3f,
      Math.nextUp(1e-3f),
      1e7f,
      Math.nextDown(1e7f),
      9999999f,
      99999990f,
      Float.MIN_VALUE,
      Float.MIN_NORMAL,
      Math.nextUp(Float.MIN_NORMAL),
      Float.MAX_VALUE,
      -Float.MAX_VALUE,
      2e23f,
      8.41e21f,
      1.0E10f,
      16777216f,
      33554432f
    };
    for (float value : values) {
      assertSame(value);
      assertSame(-value);
    }
    for (int exponent = Float.MIN_EXPONENT; exponent <= Float.MAX_EXPONENT; exponent++) {
      float power = Math.scalb(1f, exponent);
      assertSame(power);
      assertSame(Math.nextUp(power));
      assertSame(Math.nextDown(power));
    }
  }
}
