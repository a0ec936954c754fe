package dev.vamana.cuda;

import dev.vamana.cuda.FaultCell.Phase;
import dev.vamana.cuda.FaultCell.Route;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.InterceptedDriver.Call;
import dev.vamana.cuda.driver.SeamDriver.Fault;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.junit.AfterClass;
import org.junit.BeforeClass;

/**
 * Every call of the driver goes wrong in every way, in every phase of a node's life. {@link
 * FaultRun} has what holds in each cell. An ordinary run takes some cells by lot, a nightly run
 * all.
 */
public class FaultMatrixTests extends GpuTestCase {

  private static final Path PAGE = Path.of("docs", "internals", "faults.md");
  private static final int CELLS_OF_A_PHASE = 10;

  /** Whether what the cells of this run show is added to the page's table. */
  private static final boolean WRITE = Boolean.getBoolean("tests.faults.write");

  private static Map<Route, Path> served;
  private static List<Integer> indexed;
  private static List<Integer> merged;

  @BeforeClass
  public static void writeIndices() throws Exception {
    Path graphs = write(Route.EXACT);
    served = new EnumMap<>(Route.class);
    for (Route route : Route.values()) {
      served.put(route, graphs);
    }
    served.put(Route.STOCK, write(Route.STOCK));
    Path lists = write(Route.LISTS);
    served.put(Route.LISTS, lists);
    served.put(Route.MAPPED_LISTS, lists);
    indexed = FaultIndex.index(createTempDir(), false, () -> {}, () -> {});
    merged = FaultIndex.index(createTempDir(), true, () -> {}, () -> {});
  }

  private static Path write(Route route) throws Exception {
    Path folder = createTempDir();
    try (Directory directory = new MMapDirectory(folder)) {
      FaultIndex.write(directory, FaultIndex.format(route), new Random(random().nextLong()));
    }
    return folder;
  }

  @AfterClass
  public static void forgetIndices() {
    served = null;
    indexed = null;
    merged = null;
  }

  /** Runs a cell. Fails if it hangs. */
  private static FaultRun.Outcome run(FaultCell cell) throws Exception {
    FaultRun run =
        new FaultRun(
            kernels,
            cell,
            served.get(cell.route()),
            indexed,
            merged,
            createTempDir(),
            random().nextLong());
    AtomicReference<FaultRun.Outcome> outcome = new AtomicReference<>();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                outcome.set(run.run());
              } catch (Throwable e) {
                failure.set(e);
              }
            },
            "cell");
    thread.start();
    thread.join(TimeUnit.NANOSECONDS.toMillis(2 * FaultRun.PATIENCE_NANOS));
    if (thread.isAlive()) {
      AssertionError hangs = new AssertionError(cell + " hangs");
      hangs.setStackTrace(thread.getStackTrace());
      throw hangs;
    }
    if (failure.get() != null) {
      throw new AssertionError(cell.toString(), failure.get());
    }
    return outcome.get();
  }

  /** All faults of a phase, in the calls that a run without a fault makes. */
  private static List<FaultCell> cells(Phase phase, Route route) throws Exception {
    List<FaultCell> cells = new ArrayList<>();
    Map<Call, Integer> calls = run(new FaultCell(phase, route, null, null, 0)).calls();
    calls.forEach(
        (call, count) -> {
          for (int n : new TreeSet<>(List.of(1, Math.min(2, count), (count + 1) / 2, count))) {
            for (Fault fault : Fault.values()) {
              if (fault.ofKernel() == false || call == Call.LAUNCH) {
                cells.add(new FaultCell(phase, route, call, fault, n));
              }
            }
          }
        });
    return cells;
  }

  private void testCells(Phase phase) throws Exception {
    assumeTrue("needs kernels of the host", kernels != null);
    List<FaultCell> cells = new ArrayList<>();
    if (TEST_NIGHTLY) {
      for (Route route : phase.ofSegments() ? Route.values() : new Route[] {Route.EXACT}) {
        cells.addAll(cells(phase, route));
      }
    } else {
      Route[] routes = Route.values();
      cells.addAll(
          cells(phase, phase.ofSegments() ? routes[random().nextInt(routes.length)] : Route.EXACT));
      Collections.shuffle(cells, random());
      cells = cells.subList(0, Math.min(cells.size(), CELLS_OF_A_PHASE));
    }
    FaultTable table = FaultTable.read(PAGE);
    for (FaultCell cell : cells) {
      FaultRun.Outcome outcome = run(cell);
      if (outcome.hit() == false) {
        continue;
      }
      // nobody misses an upload of a segment that is closed meanwhile, as merged ones are
      boolean closes = phase == Phase.CLOSING || phase == Phase.MERGING;
      assertTrue(cell + " is not counted", closes || outcome.what().isEmpty() == false);
      if (WRITE) {
        table.add(cell, outcome.what());
      } else {
        if (TEST_NIGHTLY) {
          assertNotNull(cell + " is not in " + PAGE, table.of(cell));
        }
        // which of the phase's work meets the n-th call depends on threads
        Set<String> expected = table.ofPhase(cell);
        assertTrue(
            cell + ": " + outcome.what() + " instead of " + expected,
            expected.containsAll(outcome.what()));
      }
    }
    if (WRITE) {
      table.write(PAGE);
    }
  }

  public void testOpening() throws Exception {
    testCells(Phase.OPENING);
  }

  public void testIndexing() throws Exception {
    testCells(Phase.INDEXING);
  }

  public void testMerging() throws Exception {
    testCells(Phase.MERGING);
  }

  public void testWarming() throws Exception {
    testCells(Phase.WARMING);
  }

  public void testSearching() throws Exception {
    testCells(Phase.SEARCHING);
  }

  public void testClosing() throws Exception {
    testCells(Phase.CLOSING);
  }

  /** A call that is new in the driver has to be in the matrix. */
  public void testEveryCallIsThere() {
    Set<String> calls = Arrays.stream(Call.values()).map(Call::method).collect(Collectors.toSet());
    Set<String> answered = Set.of("device", "name");
    for (Class<?> seam : List.of(CudaDriver.class, CudaDriver.Kernel.class)) {
      for (Method method : seam.getDeclaredMethods()) {
        if (Modifier.isAbstract(method.getModifiers())
            && answered.contains(method.getName()) == false) {
          String name =
              seam == CudaDriver.class
                  ? method.getName()
                  : seam.getSimpleName() + "." + method.getName();
          assertTrue(name, calls.contains(name));
        }
      }
    }
  }
}
