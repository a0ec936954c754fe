package dev.vamana.cuda.driver;

import jcuda.driver.CUresult;

/** Maps result codes of the driver to {@link GpuException.Kind}s. */
final class CudaErrors {

  // codes that are newer than the bindings
  private static final int DEVICE_UNAVAILABLE = 46;
  private static final int CONTAINED = 226;
  private static final int TENSOR_MEMORY_LEAK = 721;

  private CudaErrors() {}

  /**
   * Returns the kind of a failure. Codes after which the driver fails every call of the context
   * with the same code are {@link GpuException.Kind#CONTEXT_LOST}.
   */
  static GpuException.Kind kind(int result) {
    return switch (result) {
      case CUresult.CUDA_ERROR_OUT_OF_MEMORY -> GpuException.Kind.OUT_OF_MEMORY;
      case CUresult.CUDA_ERROR_NOT_SUPPORTED, CUresult.CUDA_ERROR_NOT_PERMITTED ->
          GpuException.Kind.NOT_SUPPORTED;
      case CUresult.CUDA_ERROR_STUB_LIBRARY,
          DEVICE_UNAVAILABLE,
          CUresult.CUDA_ERROR_NO_DEVICE,
          CUresult.CUDA_ERROR_INVALID_DEVICE,
          CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU,
          CUresult.CUDA_ERROR_INVALID_PTX,
          CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
          CUresult.CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
          CUresult.CUDA_ERROR_SYSTEM_NOT_READY,
          CUresult.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
          CUresult.CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE ->
          GpuException.Kind.UNAVAILABLE;
      case CUresult.CUDA_ERROR_DEINITIALIZED,
          CUresult.CUDA_ERROR_ECC_UNCORRECTABLE,
          CUresult.CUDA_ERROR_NVLINK_UNCORRECTABLE,
          CONTAINED,
          CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,
          CUresult.CUDA_ERROR_LAUNCH_TIMEOUT,
          CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED,
          CUresult.CUDA_ERROR_ASSERT,
          CUresult.CUDA_ERROR_HARDWARE_STACK_ERROR,
          CUresult.CUDA_ERROR_ILLEGAL_INSTRUCTION,
          CUresult.CUDA_ERROR_MISALIGNED_ADDRESS,
          CUresult.CUDA_ERROR_INVALID_ADDRESS_SPACE,
          CUresult.CUDA_ERROR_INVALID_PC,
          CUresult.CUDA_ERROR_LAUNCH_FAILED,
          TENSOR_MEMORY_LEAK,
          CUresult.CUDA_ERROR_MPS_CONNECTION_FAILED,
          CUresult.CUDA_ERROR_MPS_RPC_FAILURE,
          CUresult.CUDA_ERROR_MPS_SERVER_NOT_READY,
          CUresult.CUDA_ERROR_MPS_CLIENT_TERMINATED,
          CUresult.CUDA_ERROR_EXTERNAL_DEVICE,
          CUresult.CUDA_ERROR_UNKNOWN ->
          GpuException.Kind.CONTEXT_LOST;
      default -> GpuException.Kind.FAILED;
    };
  }

  /** Makes the exception of a failed call. */
  static GpuException failure(int result, String call) {
    return failure(kind(result), result, call);
  }

  static GpuException failure(GpuException.Kind kind, int result, String call) {
    return new GpuException(
        kind, call + " answered " + CUresult.stringFor(result) + " (" + result + ")");
  }
}
