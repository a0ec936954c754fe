package dev.vamana.tools.gpu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;

public class SongVariantTests extends LuceneTestCase {

  private static Set<String> matches(String source, String pattern) {
    Set<String> found = new HashSet<>();
    Matcher matcher = Pattern.compile(pattern).matcher(source);
    while (matcher.find()) {
      found.add(matcher.group(1));
    }
    return found;
  }

  public void testEveryKernelIsMeasured() throws IOException {
    String source = Files.readString(Path.of("native-kernels", "bench", "song.cu"));
    Set<String> kernels = new HashSet<>();
    for (String lanes : matches(source, "\nVAMANA_SONG_SETS\\((\\d+)\\)")) {
      for (String set : matches(source, "VAMANA_SONG\\((\\w+), lanes, k[A-Z]")) {
        kernels.add("song_" + lanes + "_" + set);
      }
    }
    Set<String> measured = new HashSet<>();
    Set<String> names = new HashSet<>();
    for (SongVariant variant : SongVariant.all()) {
      measured.add(variant.kernel());
      assertTrue(variant.toString(), names.add(variant.toString()));
    }
    assertEquals(kernels, measured);
  }

  public void testVisitedSetsHoldWhatWalksVisit() {
    int beam = TestUtil.nextInt(random(), 10, 200);
    int nodes = TestUtil.nextInt(random(), 100, 4_000);
    for (SongVariant variant : SongVariant.all()) {
      int words = variant.words(nodes, beam);
      assertEquals("a power of two", 1, Integer.bitCount(words));
      if (variant.visited() == SongVariant.Visited.OPEN) {
        assertTrue("a free slot for each", words >= 2 * (variant.selected() ? beam : nodes));
      }
    }
  }
}
