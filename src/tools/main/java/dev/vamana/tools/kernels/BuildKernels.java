package dev.vamana.tools.kernels;

import dev.vamana.cuda.compile.KernelCompiler;
import dev.vamana.cuda.compile.KernelCompiler.Job;
import dev.vamana.cuda.compile.KernelSources;
import dev.vamana.cuda.compile.Nvrtc;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.tools.arguments.Arguments;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

/**
 * Compiles the kernels for the GPUs that this build is for, and writes them where the jar's content
 * lies. Maven runs it in every build; without a GPU it compiles nothing unless asked. Modules that
 * have not changed are not compiled again.
 */
public final class BuildKernels {

  private static final String AUTO = "auto";
  private static final long NANOS_BETWEEN_LINES = 5_000_000_000L;

  private final Arguments arguments;
  private final PrintStream out;
  private final Path work;
  private long lastLine;
  private int done;

  private BuildKernels(Arguments arguments, PrintStream out) {
    this.arguments = arguments;
    this.out = out;
    this.work = Path.of(arguments.required("work", "folder of compiled modules"));
  }

  /**
   * Compiles.
   *
   * @param arguments {@code --sources=native-kernels --work=target/kernels --out=<folder>}, {@code
   *     --nvrtc=<folder of the library>}, {@code --architectures=auto|none|all|90,...}, {@code
   *     --options=<more options of NVRTC>}, and {@code --bench=true --bench-out=<folder>} for
   *     kernels that only measure
   */
  public static void main(String[] arguments) throws IOException {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    try {
      new BuildKernels(Arguments.parse(arguments), out).run();
    } catch (IOException | IllegalArgumentException e) {
      out.println("kernels: " + e.getMessage());
      System.exit(1);
    }
  }

  private void run() throws IOException {
    Architectures architectures =
        Architectures.of(arguments.text("architectures", AUTO), DeviceProbe.devices());
    Path sourceFolder = Path.of(arguments.required("sources", "folder of the sources"));
    Path resources = Path.of(arguments.required("out", "folder of images and sources"));
    Path target = resources.resolve("kernels");
    PublishedImages.delete(target);
    Files.createDirectories(work);
    Files.createDirectories(resources);
    SourceArchive.write(sourceFolder, resources.resolve("kernel-sources.zip"));
    Files.deleteIfExists(work.resolve(PublishedImages.RESOURCES));
    if (architectures.machineCode().isEmpty()) {
      summarize(
          "no kernels for GPUs in this build: "
              + architectures.reason()
              + ". The plugin searches on the CPU. To build for a GPU of compute capability 9.0 add"
              + " -Dcuda.architectures=90, for every GPU -Dcuda.architectures=all");
      return;
    }
    Path library = libraryFolder();
    if (library == null) {
      String lacking =
          architectures.reason()
              + ", but the kernels' compiler, libnvrtc.so.12, is not in "
              + arguments.text("nvrtc", null);
      if (arguments.text("architectures", AUTO).equals(AUTO) == false) {
        throw new IllegalArgumentException(lacking);
      }
      summarize(
          "no kernels for GPUs in this build: "
              + lacking
              + ". The plugin will not use the GPU; build without -Dnvrtc.skip");
      return;
    }
    KernelSources sources = KernelSources.ofFolder(sourceFolder);
    List<String> options = new ArrayList<>();
    // what comes from NVRTC's own cache comes without the report of resources
    options.add("--no-cache");
    Arrays.stream(arguments.text("options", "").split(" "))
        .filter(option -> option.isEmpty() == false)
        .forEach(options::add);
    KernelCompiler compiler = new KernelCompiler(Nvrtc.load(library), sources, options);
    boolean bench = arguments.text("bench", "false").equals("true");
    Set<String> modules = sources.modules();
    List<String> all = new ArrayList<>(modules);
    if (bench) {
      all.addAll(sources.measuringModules());
    }
    ModuleCache cache = new ModuleCache(work, compiler);
    compile(compiler, cache, jobs(all, architectures), architectures);
    PublishedImages images =
        new PublishedImages(
            cache, architectures, compiler.version(), work.resolve(PublishedImages.RESOURCES));
    long bytes = images.publish(modules, target);
    if (bench) {
      Path benchTarget = Path.of(arguments.required("bench-out", "folder of measuring kernels"));
      PublishedImages.delete(benchTarget);
      images.publish(sources.measuringModules(), benchTarget);
    }
    summarize(
        String.format(
            Locale.ROOT,
            "kernels for compute capability %s (%s): %d modules, %.1f MB",
            architectures.describe(),
            architectures.reason(),
            modules.size(),
            bytes / 1e6));
  }

  /** The folder below the given one that has the library, or null if there is none. */
  private Path libraryFolder() throws IOException {
    Path given = Path.of(arguments.required("nvrtc", "folder of the NVRTC library"));
    if (Files.isDirectory(given) == false) {
      return null;
    }
    try (Stream<Path> files = Files.walk(given)) {
      return files
          .filter(file -> file.getFileName().toString().matches("libnvrtc\\.so\\.\\d+"))
          .map(Path::getParent)
          .min(Comparator.naturalOrder())
          .orElse(null);
    }
  }

  private static List<Job> jobs(List<String> modules, Architectures architectures) {
    List<Job> jobs = new ArrayList<>();
    for (String module : modules) {
      for (int architecture : architectures.machineCode()) {
        jobs.add(new Job(module, architecture));
      }
    }
    return jobs;
  }

  private void compile(
      KernelCompiler compiler, ModuleCache cache, List<Job> jobs, Architectures architectures)
      throws IOException {
    List<Job> changed = new ArrayList<>();
    for (Job job : jobs) {
      if (cache.upToDate(job) == false) {
        changed.add(job);
      }
    }
    if (changed.isEmpty()) {
      return;
    }
    int threads = Math.min(changed.size(), Runtime.getRuntime().availableProcessors());
    long start = System.nanoTime();
    lastLine = start;
    out.printf(
        Locale.ROOT,
        "kernels: compiling %d modules for compute capability %s on %d threads (%s)%n",
        changed.size(),
        architectures.describe(),
        threads,
        architectures.reason());
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      compiler.compile(
          changed,
          new Workers(executor, threads),
          compiled -> {
            cache.put(compiled);
            finished(changed.size(), start);
          });
    } finally {
      executor.shutdown();
    }
  }

  private synchronized void finished(int jobs, long start) {
    done++;
    long now = System.nanoTime();
    if (done == jobs || now - lastLine >= NANOS_BETWEEN_LINES) {
      lastLine = now;
      out.printf(
          Locale.ROOT, "kernels: %d of %d modules, %.0f s%n", done, jobs, (now - start) / 1e9);
    }
  }

  /** Leaves one sentence for the last lines of the build. */
  private void summarize(String sentence) throws IOException {
    Files.writeString(work.resolve("summary.txt"), sentence + System.lineSeparator());
    out.println("kernels: " + sentence);
  }
}
