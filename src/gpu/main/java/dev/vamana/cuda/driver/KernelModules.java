package dev.vamana.cuda.driver;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * The kernel modules of one context. Each is loaded when its first kernel is asked for; {@link
 * JcudaDriver} asks, and the context unloads them when it ends. Safe for use by several threads
 * that are bound to the context.
 */
final class KernelModules {

  /** A small module: loading it shows whether the driver accepts the images. */
  private static final String SMALLEST = "convert";

  private final Context context;
  private final int computeCapability;
  private final List<KernelImages> images;
  private final Map<String, CUmodule> loaded = new TreeMap<>();

  KernelModules(Context context, int computeCapability, KernelImages... images) {
    this.context = context;
    this.computeCapability = computeCapability;
    this.images = new ArrayList<>(List.of(images));
  }

  /**
   * Loads a small module.
   *
   * @throws GpuException if the driver refuses it
   */
  void check() {
    KernelImages first = images.get(0);
    if (first.modules().contains(SMALLEST)) {
      load(first, SMALLEST);
    }
  }

  /**
   * Finds a kernel, and loads its module if it is the first of it.
   *
   * @throws GpuException if no module has it, or the driver refuses the module
   */
  CUfunction find(String kernel) {
    for (KernelImages each : images) {
      String module = each.moduleOf(kernel);
      if (module != null) {
        CUmodule holder = load(each, module);
        CUfunction function = new CUfunction();
        context.call(
            "cuModuleGetFunction of " + kernel,
            () -> JCudaDriver.cuModuleGetFunction(function, holder, kernel));
        return function;
      }
    }
    throw new GpuException(GpuException.Kind.FAILED, "no kernel is named " + kernel);
  }

  private synchronized CUmodule load(KernelImages from, String name) {
    CUmodule known = loaded.get(name);
    if (known != null) {
      return known;
    }
    byte[] image = from.image(name, computeCapability);
    CUmodule module = new CUmodule();
    int result =
        context.result("cuModuleLoadData", () -> JCudaDriver.cuModuleLoadData(module, image));
    if (result != CUresult.CUDA_SUCCESS) {
      GpuException.Kind kind = CudaErrors.kind(result);
      throw CudaErrors.failure(
          kind == GpuException.Kind.FAILED ? GpuException.Kind.UNAVAILABLE : kind,
          result,
          "cuModuleLoadData of kernel module " + name);
    }
    loaded.put(name, module);
    return module;
  }
}
