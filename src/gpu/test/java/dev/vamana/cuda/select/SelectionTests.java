package dev.vamana.cuda.select;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.tools.gpu.Gpu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.NumericUtils;
import org.junit.AfterClass;
import org.junit.BeforeClass;

/**
 * Compares every method with sorting, on a device if there is one, otherwise on a simulated one,
 * which checks the Java code.
 */
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // native libraries keep threads of their own
public class SelectionTests extends LuceneTestCase {

  private static final long SCRATCH = 256L << 20;
  private static final float GUARD = 12_345.5f;

  private static CudaDriver driver;
  private static boolean device;

  @BeforeClass
  public static void open() {
    device = Gpu.missing() == null;
    driver = device ? Gpu.openDriver() : new SimulatedDriver(SimtKernels.load(), 2L << 30, false);
    driver.bind();
  }

  @AfterClass
  public static void close() {
    if (driver != null) {
      driver.close();
      driver = null;
    }
  }

  private enum Kind {
    RANDOM,
    ASCENDING,
    DESCENDING,
    EQUAL,
    FEW_VALUES,
    SPECIAL,
    ALL_NAN
  }

  private static float key(Kind kind, int column, Random random) {
    return switch (kind) {
      case RANDOM -> random.nextFloat() - 0.5f;
      case ASCENDING -> column;
      case DESCENDING -> -column;
      case EQUAL -> 7;
      case FEW_VALUES -> random.nextInt(5);
      case SPECIAL -> {
        float[] special = {
          Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, 0f, -0f, Float.MIN_VALUE, 1
        };
        yield special[random.nextInt(special.length)];
      }
      case ALL_NAN -> Float.NaN;
    };
  }

  private static long pair(float key, int id) {
    long sortable = NumericUtils.floatToSortableInt(key) ^ 0x80000000;
    return sortable << 32 | (id & 0xFFFFFFFFL);
  }

  /** Rows in host memory, and what selecting from them leaves there. */
  private static final class Case implements AutoCloseable {
    final int rows;
    final int n;
    final int stride;
    final int k;
    final float[] keys;
    private final List<Long> allocated = new ArrayList<>();
    private final long stream = driver.createStream();
    private final SelectRows described;
    private final long outKeys;
    private final long outIds;

    Case(Kind kind, int rows, int n, int k) {
      this.rows = rows;
      this.n = n;
      this.k = k;
      stride = (n + 3) / 4 * 4 + 4 * random().nextInt(3);
      keys = new float[rows * stride];
      Random random = new Random(random().nextLong());
      for (int row = 0; row < rows; row++) {
        for (int column = 0; column < stride; column++) {
          int at = row * stride + column;
          // what lies behind a row's keys would win if it counted
          keys[at] = column < n ? key(kind, column, random) : Float.NEGATIVE_INFINITY;
        }
      }
      described = new SelectRows(upload(MemorySegment.ofArray(keys)), rows, n, stride);
      outKeys = allocate(4L * (rows * k + 1));
      outIds = allocate(4L * (rows * k + 1));
    }

    private long allocate(long bytes) {
      long address = driver.allocate(bytes);
      allocated.add(address);
      return address;
    }

    private long upload(MemorySegment values) {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment copy = arena.allocate(values.byteSize(), 16);
        copy.copyFrom(values);
        long address = allocate(values.byteSize());
        driver.copyToDevice(address, copy, stream);
        driver.synchronize(stream);
        return address;
      }
    }

    void check(Selection selection, SelectMethod method) {
      String what = method + " rows " + rows + " n " + n + " k " + k;
      try (Arena arena = Arena.ofConfined()) {
        int results = rows * k;
        MemorySegment guard = arena.allocate(4L * (results + 1), 16);
        guard.setAtIndex(ValueLayout.JAVA_FLOAT, results, GUARD);
        driver.copyToDevice(outKeys, guard, stream);
        driver.copyToDevice(outIds, guard, stream);
        driver.synchronize(stream);
        if (method == null) {
          selection.select(described, k, outKeys, outIds, stream);
        } else {
          selection.select(method, described, k, outKeys, outIds, stream);
        }
        MemorySegment foundKeys = arena.allocate(4L * (results + 1), 16);
        MemorySegment foundIds = arena.allocate(4L * (results + 1), 16);
        driver.copyFromDevice(foundKeys, outKeys, stream);
        driver.copyFromDevice(foundIds, outIds, stream);
        driver.synchronize(stream);
        assertEquals(what, GUARD, foundKeys.getAtIndex(ValueLayout.JAVA_FLOAT, results), 0);
        assertEquals(what, GUARD, foundIds.getAtIndex(ValueLayout.JAVA_FLOAT, results), 0);
        for (int row = 0; row < rows; row++) {
          long[] found = new long[k];
          for (int i = 0; i < k; i++) {
            long at = (long) row * k + i;
            float key = foundKeys.getAtIndex(ValueLayout.JAVA_FLOAT, at);
            int id = foundIds.getAtIndex(ValueLayout.JAVA_INT, at);
            assertTrue(what, id != -1 || Float.isNaN(key));
            found[i] = id == -1 ? -1 : pair(key, id);
          }
          assertArrayEquals(what, expected(row), found);
        }
      }
    }

    private long[] expected(int row) {
      long[] pairs = new long[Math.max(n, k)];
      Arrays.fill(pairs, -1);
      for (int column = 0; column < n; column++) {
        int at = row * stride + column;
        pairs[column] = pair(keys[at], column);
      }
      sortUnsigned(pairs);
      return Arrays.copyOf(pairs, k);
    }

    private static void sortUnsigned(long[] values) {
      for (int i = 0; i < values.length; i++) {
        values[i] ^= Long.MIN_VALUE;
      }
      Arrays.sort(values);
      for (int i = 0; i < values.length; i++) {
        values[i] ^= Long.MIN_VALUE;
      }
    }

    @Override
    public void close() {
      allocated.forEach(driver::free);
      driver.destroyStream(stream);
    }
  }

  private static List<SelectMethod> methods() {
    List<SelectMethod> methods = new ArrayList<>();
    int some = TestUtil.nextInt(random(), 2, 40);
    for (int size : SelectMethod.LISTS) {
      methods.add(new SelectMethod(size, 1));
      methods.add(new SelectMethod(size, some));
    }
    methods.add(SelectMethod.RADIX);
    return methods;
  }

  private static Case any(Kind kind, SelectMethod method) {
    int largest = device ? 200_000 : 9_000;
    int n = 1 + random().nextInt(random().nextBoolean() ? largest : 200);
    int most = n + 20;
    while (method.accepts(most) == false) {
      most--;
    }
    most = Math.min(most, Selection.MAX_K);
    int k = 1 + random().nextInt(random().nextBoolean() ? most : Math.min(most, 40));
    return new Case(kind, 1 + random().nextInt(4), n, k);
  }

  public void testEveryMethodOnEveryOrder() {
    for (Kind kind : Kind.values()) {
      for (SelectMethod method : methods()) {
        try (Selection selection = new Selection(driver, DeviceBudget.UNLIMITED, SCRATCH);
            Case input = any(kind, method)) {
          input.check(selection, method);
        }
      }
    }
  }

  public void testManyResultsAreSorted() {
    for (int k : new int[] {2_049, 4_096, 4_097, 16_384}) {
      try (Selection selection = new Selection(driver, DeviceBudget.UNLIMITED, SCRATCH);
          Case input = new Case(Kind.FEW_VALUES, 2, 30_000, k)) {
        input.check(selection, null);
      }
    }
  }

  /** Scratch for one row at a time: rows go in slices, and counters are zero for each. */
  public void testRowsAreDoneInSlices() {
    try (Selection selection = new Selection(driver, DeviceBudget.UNLIMITED, 1);
        Case input = new Case(Kind.RANDOM, 7, 20_000, 100)) {
      SelectMethod method = new SelectMethod(1_024, 9);
      input.check(selection, method);
      long bytes = selection.scratchBytes();
      input.check(selection, method);
      assertEquals(bytes, selection.scratchBytes());
    }
  }

  public void testMethodsAreChosen() {
    for (int round = 0; round < 20; round++) {
      int n = 1 + random().nextInt(device ? 100_000 : 5_000);
      int k = 1 + random().nextInt(Math.min(n, random().nextInt(4) == 0 ? 16_384 : 300));
      try (Selection selection = new Selection(driver, DeviceBudget.UNLIMITED, SCRATCH);
          Case input = new Case(Kind.RANDOM, 1 + random().nextInt(5), n, k)) {
        input.check(selection, null);
      }
    }
  }

  public void testWrongArguments() {
    try (Selection selection = new Selection(driver, DeviceBudget.UNLIMITED, SCRATCH)) {
      SelectRows rows = new SelectRows(0, 1, 100, 100);
      IllegalArgumentException e =
          expectThrows(IllegalArgumentException.class, () -> selection.select(rows, 0, 0, 0, 0));
      assertEquals("k must be 1 to 16384, got 0", e.getMessage());
      e =
          expectThrows(
              IllegalArgumentException.class,
              () -> selection.select(new SelectMethod(1_024, 1), rows, 513, 0, 0, 0));
      assertEquals(
          "SelectMethod[size=1024, partitions=1] does not select 513 keys", e.getMessage());
    }
    expectThrows(IllegalArgumentException.class, () -> new SelectRows(0, 1, 5, 6));
    expectThrows(IllegalArgumentException.class, () -> new SelectRows(8, 1, 4, 4));
    expectThrows(IllegalArgumentException.class, () -> new SelectRows(0, 0, 4, 4));
  }
}
