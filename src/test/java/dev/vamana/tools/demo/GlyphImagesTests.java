package dev.vamana.tools.demo;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.datasets.VectorTable;
import java.awt.geom.Rectangle2D;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.junit.Test;

/** Images of glyphs are there with and without fonts, differ, and depend on the seed only. */
public class GlyphImagesTests {

  private static void assertImages(Glyphs glyphs) {
    assertFalse(glyphs.outlines().isEmpty());
    glyphs
        .outlines()
        .forEach(
            outline -> {
              Rectangle2D bounds = outline.getBounds2D();
              assertEquals(1, Math.max(bounds.getWidth(), bounds.getHeight()), 1e-3);
              assertEquals(0, bounds.getCenterX(), 1e-3);
              assertEquals(0, bounds.getCenterY(), 1e-3);
            });
    int side = GlyphImages.SIDE;
    VectorTable images = new GlyphImages(glyphs, 7).draw(500);
    assertEquals(500, images.size());
    assertEquals(side * side, images.dimension());
    Set<Integer> different = new HashSet<>();
    for (float[] image : images.rows()) {
      different.add(Arrays.hashCode(image));
      int ink = 0;
      for (float value : image) {
        assertTrue(value >= 0 && value <= 255 && value == (int) value);
        ink += value > 127 ? 1 : 0;
      }
      assertTrue("ink in an image: " + ink, ink > 5 && ink < side * side / 2);
    }
    assertTrue(different.size() > 490);
    VectorTable same = new GlyphImages(glyphs, 7).draw(3);
    VectorTable other = new GlyphImages(glyphs, 8).draw(3);
    for (int i = 0; i < 3; i++) {
      assertArrayEquals(images.rows()[i], same.rows()[i], 0);
      assertFalse(Arrays.equals(images.rows()[i], other.rows()[i]));
    }
  }

  @Test
  public void testWhateverThisMachineHas() {
    assertImages(Glyphs.find());
  }
}
