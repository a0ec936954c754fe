package dev.vamana.pq;

import org.apache.lucene.tests.util.LuceneTestCase;

public class SubspaceLayoutTests extends LuceneTestCase {

  public void testSubspacesTileTheDimensions() {
    for (int round = 0; round < 500; round++) {
      SubspaceLayout layout =
          PqTestData.randomLayout(random(), random().nextBoolean() ? 50 : SubspaceLayout.MAX_DIMS);
      int next = 0;
      int longest = 0;
      for (int s = 0; s < layout.count(); s++) {
        assertEquals(next, layout.offset(s));
        int even = layout.dims() / layout.count();
        boolean oneMore = s < layout.dims() % layout.count();
        assertEquals(oneMore ? even + 1 : even, layout.length(s));
        longest = Math.max(longest, layout.length(s));
        next += layout.length(s);
      }
      assertEquals(layout.dims(), next);
      assertEquals(longest, layout.maxLength());
    }
  }

  public void testDefaultSubspaces() {
    int[][] expected = {
      {1, 1},
      {3, 1},
      {4, 1},
      {5, 2},
      {100, 25},
      {128, 32},
      {256, 64},
      {257, 64},
      {384, 64},
      {512, 64},
      {513, 65},
      {768, 96},
      {784, 98},
      {1024, 128},
      {1536, 192},
      {2048, 256},
      {2049, 256},
      {4096, 256}
    };
    for (int[] pair : expected) {
      assertEquals("dims " + pair[0], pair[1], SubspaceLayout.defaultSubspaces(pair[0]));
    }
    for (int dims = 1; dims <= SubspaceLayout.MAX_DIMS; dims++) {
      int subspaces = SubspaceLayout.defaultSubspaces(dims);
      assertEquals(subspaces, new SubspaceLayout(dims, subspaces).count());
    }
  }

  public void testRefusesWhatIsOutOfRange() {
    assertRefused("dims must be between 1 and 4096, got 0", 0, 1);
    assertRefused("dims must be between 1 and 4096, got 4097", 4097, 1);
    assertRefused("subspaces must be between 1 and 10 for 10 dims, got 0", 10, 0);
    assertRefused("subspaces must be between 1 and 10 for 10 dims, got 11", 10, 11);
    assertRefused("subspaces must be between 1 and 256 for 1000 dims, got 257", 1000, 257);
    SubspaceLayout layout = new SubspaceLayout(10, 3);
    expectThrows(IndexOutOfBoundsException.class, () -> layout.offset(3));
    expectThrows(IndexOutOfBoundsException.class, () -> layout.length(-1));
  }

  private static void assertRefused(String message, int dims, int subspaces) {
    IllegalArgumentException e =
        expectThrows(IllegalArgumentException.class, () -> new SubspaceLayout(dims, subspaces));
    assertEquals(message, e.getMessage());
  }
}
