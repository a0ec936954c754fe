package dev.vamana.tools.kernels;

import dev.vamana.cuda.compile.KernelCompiler;
import dev.vamana.cuda.compile.KernelCompiler.Compiled;
import dev.vamana.cuda.compile.KernelCompiler.Job;
import dev.vamana.cuda.driver.KernelIndex;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * Compiled modules of earlier builds, below {@code target}: for each job machine code, PTX, the
 * assembler's log, and a stamp that changes with sources, options and compiler.
 */
final class ModuleCache {

  private final Path folder;
  private final KernelCompiler compiler;

  ModuleCache(Path folder, KernelCompiler compiler) {
    this.folder = folder;
    this.compiler = compiler;
  }

  /** Whether a job would leave what is here already. */
  boolean upToDate(Job job) throws IOException {
    Path stamp = stamp(job);
    return Files.exists(stamp) && Files.readAllLines(stamp).get(0).equals(compiler.stamp(job));
  }

  /** Keeps a compiled module; its stamp comes last. */
  void put(Compiled compiled) throws IOException {
    Job job = compiled.job();
    Files.createDirectories(cubin(job).getParent());
    Files.createDirectories(ptx(job).getParent());
    Files.deleteIfExists(stamp(job));
    Files.write(cubin(job), compiled.cubin());
    Files.write(ptx(job), compiled.ptx());
    Files.writeString(log(job), compiled.log());
    Files.write(stamp(job), List.of(compiler.stamp(job), String.join(" ", compiled.kernels())));
  }

  /** Kernels of a module that is here. */
  List<String> kernels(Job job) throws IOException {
    return Arrays.asList(Files.readAllLines(stamp(job)).get(1).split(" "));
  }

  Path cubin(Job job) {
    return folder.resolve(KernelIndex.cubin(job.module(), job.architecture()));
  }

  Path ptx(Job job) {
    return folder.resolve(KernelIndex.ptx(job.module(), job.architecture()));
  }

  Path log(Job job) {
    return cubin(job).resolveSibling(job.module() + ".log");
  }

  private Path stamp(Job job) {
    return cubin(job).resolveSibling(job.module() + ".stamp");
  }
}
