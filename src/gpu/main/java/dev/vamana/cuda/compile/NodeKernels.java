package dev.vamana.cuda.compile;

import dev.vamana.cuda.driver.KernelFallback;
import dev.vamana.cuda.driver.KernelImages;
import dev.vamana.cuda.driver.KernelIndex;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Compiles the kernels on the node, for a device that no shipped image serves, and keeps them in a
 * folder for later starts. {@link dev.vamana.cuda.driver.DeviceProbe} asks while the node starts,
 * which therefore takes one to three minutes longer the first time.
 *
 * <p>The folder holds one subfolder for each version of the sources and compute capability. Its
 * index is written last, so that a compilation that was cut off is done again.
 */
public final class NodeKernels implements KernelFallback {

  private final Path folder;
  private final Path nvrtc;
  private final int threads;
  private final Consumer<String> progress;

  /**
   * A fallback that has compiled nothing yet.
   *
   * @param folder where compiled kernels are kept; is made if it is missing
   * @param nvrtc folder of the NVRTC library, or null for the library that the system finds
   * @param threads how many modules are compiled at the same time, at least 1
   * @param progress takes sentences for the log
   */
  public NodeKernels(Path folder, Path nvrtc, int threads, Consumer<String> progress) {
    this.folder = folder;
    this.nvrtc = nvrtc;
    this.threads = threads;
    this.progress = progress;
  }

  @Override
  public KernelImages imagesFor(int computeCapability) throws IOException {
    KernelSources sources = KernelSources.ofThisJar();
    Path home = home(sources, computeCapability);
    if (Files.notExists(home.resolve(KernelIndex.FILE))) {
      try {
        compile(sources, computeCapability, home);
      } catch (IOException e) {
        throw new IOException("they could not be compiled on this node: " + e.getMessage(), e);
      }
    }
    return KernelImages.inFolder(home);
  }

  /** Where the kernels of these sources for a compute capability are kept. */
  Path home(KernelSources sources, int computeCapability) {
    return folder.resolve(
        sources.digest(sources.modules()).substring(0, 16) + "-sm_" + computeCapability);
  }

  private void compile(KernelSources sources, int computeCapability, Path home) throws IOException {
    Nvrtc library = Nvrtc.load(nvrtc);
    KernelCompiler compiler = new KernelCompiler(library, sources, List.of());
    Set<String> modules = sources.modules();
    progress.accept(
        "compiling "
            + modules.size()
            + " modules of kernels for compute capability "
            + KernelImages.version(computeCapability)
            + " with NVRTC "
            + KernelImages.cudaVersion(compiler.version())
            + " on "
            + threads
            + " threads, once; the node's start waits for it");
    SortedMap<String, List<String>> kernels = new ConcurrentSkipListMap<>();
    AtomicInteger done = new AtomicInteger();
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      compiler.compile(
          modules.stream()
              .map(module -> new KernelCompiler.Job(module, computeCapability))
              .toList(),
          new Workers(executor, threads),
          compiled -> {
            String module = compiled.job().module();
            write(home.resolve(KernelIndex.cubin(module, computeCapability)), compiled.cubin());
            kernels.put(module, compiled.kernels());
            progress.accept(
                "compiled kernels of "
                    + module
                    + ", "
                    + done.incrementAndGet()
                    + " of "
                    + modules.size());
          });
    }
    new KernelIndex(kernels, List.of(computeCapability), 0, compiler.version()).write(home);
  }

  private static void write(Path file, byte[] content) throws IOException {
    Files.createDirectories(file.getParent());
    Path unfinished = file.resolveSibling(file.getFileName() + ".tmp");
    Files.write(unfinished, content);
    Files.move(unfinished, file, StandardCopyOption.REPLACE_EXISTING);
  }
}
