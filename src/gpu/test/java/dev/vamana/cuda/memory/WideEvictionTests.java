package dev.vamana.cuda.memory;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Tests that copies of wide vectors, which searches can do without, cost no segment its place. */
public class WideEvictionTests extends ResidencyTestCase {

  @Override
  int dimension() {
    return Placement.WIDE;
  }

  public void testNoSegmentGivesWayToCopies() throws IOException {
    // copies would fit if both segments were gone, and then leave less than half of the limit
    open(null, 2 * bytes(Placement.EXACT), 0, executor);
    residency.opened(views.get(0));
    residency.opened(views.get(1));
    executor.runAll();
    assertEquals(List.of("uploaded 0 exact", "uploaded 1 exact"), events());
    pass(MINUTE);
    use(1);
    residency.opened(views.get(2));
    executor.runAll();
    assertEquals(List.of("evicted 0", "uploaded 2 exact"), events());
    pass(Duration.ofSeconds(1));
    use(2);
    pass(MINUTE.multipliedBy(2));
    residency.opened(views.get(3));
    executor.runAll();
    assertEquals(List.of("evicted 1", "uploaded 3 exact"), events());
  }
}
