package dev.vamana.codec;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.tools.gpu.Gpu;
import dev.vamana.work.Workers;
import java.io.IOException;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.junit.AfterClass;
import org.junit.BeforeClass;

/**
 * Lucene's conformance test with the GPU executor installed, and a graph in every segment, so that
 * all that may be walked there is; skipped without a GPU.
 */
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // native libraries keep threads of their own
public class DeviceConformanceTests extends VamanaVectorsFormatTests {

  private static Gpu gpu;
  private static ExecutorRegistry.Installation installation;

  @BeforeClass
  public static void install() {
    String missing = Gpu.missing();
    assumeTrue("no usable GPU: " + missing, missing == null);
    Placement[] placements = {Placement.EXACT, Placement.IN_MEMORY, null};
    gpu = Gpu.open(placements[random().nextInt(placements.length)]);
    installation = ExecutorRegistry.install(gpu::executor);
  }

  @AfterClass
  public static void uninstall() throws IOException {
    if (gpu != null) {
      installation.close();
      gpu.close();
      gpu = null;
      installation = null;
    }
  }

  @Override
  protected KnnVectorsFormat format() {
    return new VamanaVectorsFormat(
        VamanaParameters.DEFAULT.withThresholds(0, 0), Workers.callingThread());
  }
}
