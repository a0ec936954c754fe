package dev.vamana.cuda.compile;

import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.lucene.util.IOConsumer;

/**
 * Compiles kernel modules for compute capabilities, several at the same time. {@link NodeKernels}
 * has one for the devices of a node.
 */
public final class KernelCompiler {

  private static final Pattern KERNEL = Pattern.compile("\\.entry\\s+(\\w+)");
  private static final Pattern WARNING = Pattern.compile("\\bwarning\\b", Pattern.CASE_INSENSITIVE);

  private final Nvrtc nvrtc;
  private final KernelSources sources;
  private final List<String> extraOptions;

  /**
   * One module for one compute capability.
   *
   * @param architecture compute capability, 90 for 9.0
   */
  public record Job(String module, int architecture) {}

  /**
   * A compiled module.
   *
   * @param cubin machine code
   * @param ptx PTX for the same compute capability, with a zero byte at the end
   * @param kernels names of its kernels
   * @param log the assembler's lines on registers, stack and spills of each kernel
   */
  public record Compiled(Job job, byte[] cubin, byte[] ptx, List<String> kernels, String log) {}

  /**
   * A compiler.
   *
   * @param extraOptions options of NVRTC beside the ones that every module gets, for instance
   *     {@code -lineinfo} for a profiler
   */
  public KernelCompiler(Nvrtc nvrtc, KernelSources sources, List<String> extraOptions) {
    this.nvrtc = nvrtc;
    this.sources = sources;
    this.extraOptions = List.copyOf(extraOptions);
  }

  /** Version of the compiler, 12090 for CUDA 12.9. */
  public int version() {
    return nvrtc.version();
  }

  /** Changes whenever the result of a job would. */
  public String stamp(Job job) {
    return nvrtc.version() + " " + options(job) + " " + sources.digest(job.module());
  }

  private List<String> options(Job job) {
    List<String> options =
        new ArrayList<>(
            List.of(
                "-std=c++17",
                "-arch=sm_" + job.architecture(),
                // functions without an annotation, lambdas among them, are the device's
                "-default-device",
                // reports the resources of each kernel
                "--ptxas-options=-v"));
    options.addAll(extraOptions);
    return options;
  }

  /**
   * Compiles modules, those with the most source first.
   *
   * @param workers threads; each takes 100 to 300 MB of native memory while it compiles
   * @param finished takes each module, on the thread that compiled it
   * @throws IOException if one does not compile, compiles with a warning (but for a wish for more
   *     blocks than a multiprocessor holds), or has no kernel
   */
  public void compile(List<Job> jobs, Workers workers, IOConsumer<Compiled> finished)
      throws IOException {
    List<Job> longestFirst =
        jobs.stream().sorted(Comparator.comparingInt(this::length).reversed()).toList();
    AtomicInteger next = new AtomicInteger();
    workers.together(
        jobs.size(),
        () -> {
          int i;
          while ((i = next.getAndIncrement()) < longestFirst.size()) {
            finished.accept(compile(longestFirst.get(i)));
          }
        });
  }

  private int length(Job job) {
    return sources.headersOf(job.module()).values().stream().mapToInt(String::length).sum();
  }

  private Compiled compile(Job job) throws IOException {
    String name = job.module() + ".cu";
    Nvrtc.Output output =
        nvrtc.compile(
            name, sources.text(job.module()), sources.headersOf(job.module()), options(job));
    if (WARNING.matcher(output.log()).find()) {
      throw new IOException(
          name + " compiles for " + job.architecture() + " with a warning:\n" + output.log());
    }
    List<String> kernels = new ArrayList<>();
    // not from the log, which is empty if the compiler took the module from its cache
    Matcher kernel = KERNEL.matcher(new String(output.ptx(), StandardCharsets.US_ASCII));
    while (kernel.find()) {
      kernels.add(kernel.group(1));
    }
    if (kernels.isEmpty() || output.cubin().length == 0) {
      throw new IOException(
          name + " compiles for " + job.architecture() + " to nothing:\n" + output.log());
    }
    kernels.sort(null);
    return new Compiled(job, output.cubin(), output.ptx(), kernels, output.log());
  }
}
