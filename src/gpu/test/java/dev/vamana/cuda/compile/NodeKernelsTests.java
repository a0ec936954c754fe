package dev.vamana.cuda.compile;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakFilters;
import dev.vamana.cuda.driver.KernelImages;
import dev.vamana.cuda.driver.KernelIndex;
import dev.vamana.cuda.kernel.HostLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.tests.mockfile.FilterPath;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.QuickPatchThreadsFilter;

/** Kernels of a node's own; {@code StubbedDriverTests} and {@code StubbedDeviceIT} compile some. */
@ThreadLeakFilters(
    defaultFilters = true,
    filters = {QuickPatchThreadsFilter.class, HostLibrary.CleanerThread.class})
public class NodeKernelsTests extends LuceneTestCase {

  public void testWithoutACompilerTheReasonIsNamed() {
    Path empty = FilterPath.unwrap(createTempDir());
    Path kernels = FilterPath.unwrap(createTempDir());
    NodeKernels node = new NodeKernels(kernels, empty, 1, message -> fail(message));
    IOException e = expectThrows(IOException.class, () -> node.imagesFor(90));
    assertTrue(e.getMessage(), e.getMessage().contains("could not be compiled on this node"));
    assertTrue(e.getMessage(), e.getMessage().contains(empty.toString()));
    assertTrue(e.getMessage(), e.getMessage().contains("libnvrtc.so.12"));
  }

  public void testALibraryThatDoesNotLoad() throws IOException {
    Path folder = FilterPath.unwrap(createTempDir());
    Files.writeString(folder.resolve("libnvrtc.so.12"), "not a library");
    IOException e = expectThrows(IOException.class, () -> Nvrtc.load(folder));
    assertTrue(e.getMessage(), e.getMessage().contains("libnvrtc.so.12 cannot be loaded"));
  }

  public void testKernelsOfAnEarlierStartAreUsedWithoutACompiler() throws IOException {
    Path kernels = FilterPath.unwrap(createTempDir());
    List<String> messages = new ArrayList<>();
    NodeKernels node =
        new NodeKernels(kernels, FilterPath.unwrap(createTempDir()), 1, messages::add);
    KernelIndex index =
        new KernelIndex(new TreeMap<>(Map.of("walk", List.of("walk_one"))), List.of(90), 0, 12_090);
    Path home = node.home(KernelSources.ofThisJar(), 90);
    index.write(home);
    Path image = home.resolve(KernelIndex.cubin("walk", 90));
    Files.createDirectories(image.getParent());
    Files.write(image, new byte[1]);
    KernelImages images = node.imagesFor(90);
    assertTrue(images.runOn(90));
    assertFalse(images.runOn(86));
    assertEquals(List.of(), messages);
    // kernels for another device, or of other sources, are none of them
    expectThrows(IOException.class, () -> node.imagesFor(86));
  }
}
