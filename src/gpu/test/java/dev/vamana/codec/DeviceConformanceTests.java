package dev.vamana.codec;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.cuda.kernel.Tuning;
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
 * all that may be walked there is. Without a GPU, a simulated device runs the kernels.
 */
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // native libraries keep threads of their own
public class DeviceConformanceTests extends VamanaVectorsFormatTests {

  private static final long SIMULATED_BYTES = 1L << 30;

  private static Gpu gpu;
  private static ExecutorRegistry.Installation installation;

  @BeforeClass
  public static void install() {
    Placement[] placements = {Placement.EXACT, Placement.IN_MEMORY, null};
    Placement placement = placements[random().nextInt(placements.length)];
    if (Gpu.missing() == null) {
      gpu = Gpu.open(placement);
    } else {
      SimtKernels kernels = SimtKernels.load();
      gpu =
          Gpu.open(
              () -> new SimulatedDriver(kernels, SIMULATED_BYTES, true), placement, Tuning.DEFAULT);
    }
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
