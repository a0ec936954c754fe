package dev.vamana.graph;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;

import com.carrotsearch.randomizedtesting.RandomizedTest;
import com.carrotsearch.randomizedtesting.annotations.ThreadLeakLingering;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.apache.lucene.util.FixedBitSet;
import org.junit.Test;

/** Nodes are taken once, whichever threads ask for them. */
@ThreadLeakLingering(linger = 5_000) // a thread of a closed pool may still be ending
public class OpenNodesTests extends RandomizedTest {

  @Test
  public void eachNodeIsTakenOnce() throws IOException {
    int size = randomIntBetween(1, 2_000);
    FixedBitSet left = new FixedBitSet(size);
    for (int node = 0; node < size; node++) {
      if (rarely()) {
        left.set(node);
      }
    }
    OpenNodes open = new OpenNodes(left);
    AtomicIntegerArray taken = new AtomicIntegerArray(size);
    try (ExecutorService pool = Executors.newFixedThreadPool(3)) {
      new Workers(pool, 4)
          .forEach(
              0,
              4 * size,
              () ->
                  index -> {
                    if (open.take(index % size)) {
                      taken.incrementAndGet(index % size);
                    }
                  },
              AbortCheck.NEVER);
    }
    for (int node = 0; node < size; node++) {
      assertEquals("node " + node, left.get(node) ? 0 : 1, taken.get(node));
      assertFalse(open.take(node));
    }
  }
}
