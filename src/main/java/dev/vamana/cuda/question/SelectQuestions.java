package dev.vamana.cuda.question;

import dev.vamana.cuda.driver.Cleanup;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.cuda.select.SelectMethod;
import dev.vamana.cuda.select.SelectMethod.Family;
import dev.vamana.cuda.select.SelectRows;
import dev.vamana.cuda.select.SelectTable;
import dev.vamana.cuda.select.Selection;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Selections by every method that searches use. Column c of a row of n keys, n being a power of
 * two, holds the key c * m mod n, where m is odd. So each key from 0 to n - 1 is there once.
 */
final class SelectQuestions implements Questions {

  private static final int KEYS = 8192;
  private static final int MULTIPLIER = 2_531;
  private static final long SCRATCH_BYTES = 4L << 20;
  private static final int RESULT_BYTES = 2 * Integer.BYTES;

  private final CudaDriver driver;
  private final Selection selection;
  private final DriverObjects objects;
  private final DeviceBuffer keys;
  private final DeviceBuffer found;
  private long stream;
  private boolean ready;

  SelectQuestions(CudaDriver driver, SessionHostMemory account) {
    this.driver = driver;
    this.selection = new Selection(driver, SelectTable.of(List.of()), SCRATCH_BYTES);
    this.objects = new DriverObjects(driver, account);
    this.keys = objects.device();
    this.found = objects.device();
  }

  @Override
  public List<Question> all() {
    List<Question> questions = new ArrayList<>();
    questions.add(question(SelectMethod.bits(512, 1), 100));
    questions.add(question(SelectMethod.bits(512, 4), 100));
    questions.add(question(SelectMethod.bits(1024, 1), 400));
    questions.add(question(SelectMethod.bits(2048, 1), 900));
    questions.add(question(SelectMethod.bits(4096, 1), 2000));
    questions.add(question(SelectMethod.of(Family.SAMPLE, 4), 3000));
    questions.add(question(SelectMethod.of(Family.RADIX, 1), 5000));
    return questions;
  }

  private Question question(SelectMethod method, int k) {
    return new Question("selection by " + method, () -> select(method, k));
  }

  private void select(SelectMethod method, int k) {
    prepare();
    long size = (long) k * Integer.BYTES;
    long address = found.ensure(2 * size);
    // nothing that an earlier question has left is a right answer
    driver.fill(address, (byte) -1, 2 * size, stream);
    selection.select(
        method,
        new SelectRows(keys.ensure((long) KEYS * Float.BYTES), 1, KEYS, KEYS),
        k,
        address,
        address + size,
        stream);
    try (Arena arena = Arena.ofShared()) {
      MemorySegment copy = arena.allocate((long) k * RESULT_BYTES, Long.BYTES);
      driver.synchronize(stream);
      driver.copyFromDevice(copy, address, stream);
      driver.synchronize(stream);
      for (int i = 0; i < k; i++) {
        float key = copy.getAtIndex(ValueLayout.JAVA_FLOAT, i);
        int column = copy.getAtIndex(ValueLayout.JAVA_INT, (long) k + i);
        Question.check(
            key == i && key(column) == i ? null : "key " + key + ", column " + column + " at " + i);
      }
    }
  }

  private static int key(int column) {
    return column * MULTIPLIER & (KEYS - 1);
  }

  /** Copies the row to the device. */
  private void prepare() {
    if (ready) {
      return;
    }
    if (stream == 0) {
      stream = objects.stream();
    }
    try (Arena arena = Arena.ofShared()) {
      MemorySegment row = arena.allocate((long) KEYS * Float.BYTES, Long.BYTES);
      for (int c = 0; c < KEYS; c++) {
        row.setAtIndex(ValueLayout.JAVA_FLOAT, c, key(c));
      }
      driver.copyToDevice(keys.ensure(row.byteSize()), row, stream);
      driver.synchronize(stream);
    }
    ready = true;
  }

  @Override
  public void close() {
    // after a failure something may still run
    Cleanup.all(objects::synchronize, selection::close, objects::free);
  }
}
