package dev.vamana.tools.gpu;

import static org.junit.Assert.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import org.junit.Test;

/** The committed table is the one that the plan gives. */
public class SharedMemoryTableTests {

  @Test
  public void pageIsUpToDate() throws IOException {
    assertEquals(
        "run dev.vamana.tools.gpu.SharedMemoryTable",
        SharedMemoryTable.text(),
        Files.readString(SharedMemoryTable.PAGE));
  }
}
