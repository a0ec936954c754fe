package dev.vamana.cuda;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.tools.gpu.Gpu;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests that faults on the device end in correct answers, and that the device recovers. */
// index files are copied, so there must be no others
@LuceneTestCase.SuppressFileSystems("ExtrasFS")
public class DeviceFaultTests extends DeviceTestCase {

  private static final int K = 10;

  static DeviceSegment segment(Path folder) throws IOException {
    return DeviceSegment.of(
        folder,
        DeviceSegment.clustered(
            new Random(random().nextLong()),
            6_000,
            24,
            VectorEncoding.FLOAT32,
            VectorSimilarityFunction.EUCLIDEAN),
        VectorSimilarityFunction.EUCLIDEAN,
        VamanaParameters.DEFAULT.withGraph(32, 64, 1.2f).withSubspaces(8).withThresholds(0, 0),
        workers());
  }

  static void assertServes(Gpu gpu, DeviceSegment segment, WalkParameters walk) throws IOException {
    Gpu.Counts before = gpu.counts();
    Parity parity = new Parity(workers());
    List<WorkItem> items = items(segment, segment.vectors().subList(0, 300), K, walk);
    parity.add(gpu.executor(), items);
    parity.assertShare("walks", Parity.HALF_TABLES);
    assertNoFallback(gpu, before);
    assertTrue("answered", gpu.counts().answered() >= before.answered() + items.size());
  }

  /**
   * Ordinals out of range end neither the context nor in a wrong answer's being taken for right.
   */
  public void testFlippedGraphFiles() throws Exception {
    for (Placement placement : List.of(Placement.MAPPED_GRAPH, Placement.IN_MEMORY)) {
      WalkParameters walk = WalkParameters.quantized(24, 24);
      try (DeviceSegment intact = segment(createTempDir());
          Gpu gpu = open(placement)) {
        serve(gpu, intact.view());
        for (int round = 0; round < 5; round++) {
          Path folder = createTempDir();
          copyWithFlips(intact.directory().getDirectory(), folder);
          MMapDirectory directory = new MMapDirectory(folder);
          try (DeviceSegment broken =
              new DeviceSegment(intact.vectors(), directory, DirectoryReader.open(directory))) {
            gpu.executor().opened(broken.view());
            for (WorkItem item : items(broken, broken.vectors().subList(0, 60), K, walk)) {
              try {
                for (WorkResult result : gpu.executor().search(List.of(item))) {
                  for (int ordinal : result.ordinals()) {
                    assertTrue("ordinal " + ordinal, ordinal >= 0 && ordinal < 6_000);
                  }
                }
              } catch (IOException | RuntimeException e) {
                // corruption may be told; whatever is told must not be the device's end
                assertFalse(e.toString(), e instanceof GpuException);
              }
            }
            gpu.executor().closing(broken.view());
          }
          assertServes(gpu, intact, walk);
        }
        gpu.executor().closing(intact.view());
      }
    }
  }

  private static void copyWithFlips(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        if (name.equals("write.lock")) {
          continue;
        }
        Path copy = to.resolve(name);
        Files.write(copy, Files.readAllBytes(file));
        if (name.endsWith(".vex")) {
          try (RandomAccessFile bytes = new RandomAccessFile(copy.toFile(), "rw")) {
            // not the header, which is checked when the file is opened, nor the footer
            for (int flip = 0; flip < 2_000; flip++) {
              bytes.seek(128 + (long) (random().nextDouble() * (bytes.length() - 256)));
              int old = bytes.read();
              bytes.seek(bytes.getFilePointer() - 1);
              bytes.write(old ^ (1 << random().nextInt(8)));
            }
          }
        }
      }
    }
  }
}
