// A driver library without a device: memory is the host's, streams run at once, and kernels
// come from the host library named by VAMANA_HOST_LIBRARY. It lets tests run the Java side of the
// driver as it is. Device memory is VAMANA_STUB_BYTES, 256 MiB if not given.
#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

// names that the header only knows with a later meaning
#undef cuCtxCreate
#undef cuCtxDestroy
#undef cuCtxPopCurrent
#undef cuCtxPushCurrent
#undef cuMemAlloc
#undef cuMemFree
#undef cuMemGetInfo
#undef cuMemHostRegister
#undef cuMemHostGetDevicePointer
#undef cuMemcpyHtoDAsync
#undef cuMemcpyDtoHAsync
#undef cuMemcpy2DAsync
#undef cuMemsetD8Async
#undef cuStreamDestroy
#undef cuEventDestroy
#undef cuDeviceTotalMem

#define STUB extern "C" __attribute__((visibility("default"))) CUresult

struct CUctx_st {
  CUresult lost = CUDA_SUCCESS;
  std::map<CUdeviceptr, size_t> memory;
  std::map<uintptr_t, size_t> registered;
  std::set<void*> handles;
};

struct CUfunc_st {
  std::string name;
  int most_shared_bytes = 49152;
};

namespace {

constexpr size_t kPage = 4096;
// as on Hopper, where each block costs 1 KiB more of shared memory than it asks for
constexpr int kSharedBytesPerBlock = 232448;
constexpr size_t kSharedBytesPerMultiprocessor = 233472;
constexpr int kBlocksPerMultiprocessor = 32;
constexpr int kThreadsPerMultiprocessor = 2048;
// first four bytes of machine code in ELF
constexpr uint32_t kElf = 0x464C457Fu;

std::mutex lock;
std::set<CUcontext> contexts;
std::vector<CUfunction> functions;
thread_local std::vector<CUcontext> current(1, nullptr);

size_t device_bytes() {
  const char* bytes = std::getenv("VAMANA_STUB_BYTES");
  return bytes == nullptr ? size_t{256} << 20 : std::strtoull(bytes, nullptr, 10);
}

size_t used_bytes() {
  size_t used = 0;
  for (CUcontext context : contexts) {
    for (const auto& block : context->memory) {
      used += block.second;
    }
  }
  return used;
}

// A kernel's parameter, whose size the driver's function is not told: all that can be read there.
struct Parameter {
  static constexpr size_t kPiece = 8;
  uint8_t bytes[1024] = {};

  explicit Parameter(void* from) {
    iovec remote[sizeof bytes / kPiece];
    for (size_t i = 0; i < sizeof bytes / kPiece; i++) {
      remote[i] = {static_cast<uint8_t*>(from) + i * kPiece, kPiece};
    }
    iovec local = {bytes, sizeof bytes};
    process_vm_readv(getpid(), &local, 1, remote, sizeof bytes / kPiece, 0);
  }
};

void* host_symbol(const char* name) {
  static void* library = dlopen(std::getenv("VAMANA_HOST_LIBRARY"), RTLD_NOW);
  return library == nullptr ? nullptr : dlsym(library, name);
}

// Whether bytes of device memory, or of registered host memory, are all there.
bool valid(CUcontext context, uintptr_t address, size_t bytes) {
  auto block = context->memory.upper_bound(address);
  if (block != context->memory.begin() && (--block)->first + block->second >= address + bytes) {
    return true;
  }
  auto pages = context->registered.upper_bound(address);
  return pages != context->registered.begin() &&
         (--pages)->first + pages->second >= address + bytes;
}

template <typename Work>
CUresult in_context(Work work) {
  std::lock_guard<std::mutex> guard(lock);
  CUcontext context = current.back();
  if (context == nullptr || contexts.count(context) == 0) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  return context->lost != CUDA_SUCCESS ? context->lost : work(context);
}

CUresult create(CUcontext context, void** handle) {
  *handle = std::malloc(1);
  context->handles.insert(*handle);
  return CUDA_SUCCESS;
}

CUresult destroy(CUcontext context, void* handle) {
  if (context->handles.erase(handle) == 0) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  std::free(handle);
  return CUDA_SUCCESS;
}

CUresult known(CUcontext context, void* handle) {
  return context->handles.count(handle) == 0 ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

}  // namespace

STUB cuInit(unsigned int) { return CUDA_SUCCESS; }

STUB cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}

STUB cuGetErrorName(CUresult result, const char** name) {
  *name = "CUDA_ERROR_OF_STUB";
  return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

STUB cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}

STUB cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

STUB cuDeviceGetName(char* name, int length, CUdevice) {
  std::snprintf(name, length, "stub");
  return CUDA_SUCCESS;
}

STUB cuDeviceGetPCIBusId(char* id, int length, CUdevice) {
  std::snprintf(id, length, "0000:01:00.0");
  return CUDA_SUCCESS;
}

STUB cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice) {
  std::memset(uuid->bytes, 0x1f, sizeof(uuid->bytes));
  return CUDA_SUCCESS;
}

STUB cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
  *bytes = device_bytes();
  return CUDA_SUCCESS;
}

STUB cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = 0; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 4; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = kSharedBytesPerBlock; break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = 1 << 20; break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

STUB cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice) {
  if ((flags & ~static_cast<unsigned int>(CU_CTX_SCHED_MASK | CU_CTX_MAP_HOST)) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::lock_guard<std::mutex> guard(lock);
  *context = new CUctx_st;
  contexts.insert(*context);
  current.push_back(*context);
  return CUDA_SUCCESS;
}

STUB cuCtxSetCurrent(CUcontext context) {
  std::lock_guard<std::mutex> guard(lock);
  if (contexts.count(context) == 0) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  current.back() = context;
  return context->lost;
}

STUB cuCtxPushCurrent_v2(CUcontext context) {
  std::lock_guard<std::mutex> guard(lock);
  if (contexts.count(context) == 0) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  current.push_back(context);
  return CUDA_SUCCESS;
}

STUB cuCtxPopCurrent_v2(CUcontext* context) {
  if (current.size() < 2) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  *context = current.back();
  current.pop_back();
  return CUDA_SUCCESS;
}

STUB cuCtxDestroy_v2(CUcontext context) {
  std::lock_guard<std::mutex> guard(lock);
  if (contexts.erase(context) == 0) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  for (const auto& block : context->memory) {
    std::free(reinterpret_cast<void*>(block.first));
  }
  for (void* handle : context->handles) {
    std::free(handle);
  }
  if (current.back() == context) {
    current.size() > 1 ? current.pop_back() : void(current.back() = nullptr);
  }
  CUresult lost = context->lost;
  delete context;
  return lost;
}

STUB cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  return in_context([=](CUcontext) {
    *total = device_bytes();
    *free_bytes = device_bytes() - used_bytes();
    return CUDA_SUCCESS;
  });
}

STUB cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return in_context([=](CUcontext context) {
    if (bytes == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (bytes > device_bytes() - used_bytes()) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *address = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    context->memory[*address] = bytes;
    return CUDA_SUCCESS;
  });
}

STUB cuMemFree_v2(CUdeviceptr address) {
  return in_context([=](CUcontext context) {
    if (context->memory.erase(address) == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    std::free(reinterpret_cast<void*>(address));
    return CUDA_SUCCESS;
  });
}

STUB cuMemHostRegister_v2(void* host, size_t bytes, unsigned int flags) {
  return in_context([=](CUcontext context) {
    uintptr_t address = reinterpret_cast<uintptr_t>(host);
    if (address % kPage != 0 || bytes % kPage != 0 || bytes == 0 ||
        (flags & CU_MEMHOSTREGISTER_DEVICEMAP) == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    auto before = context->registered.lower_bound(address + bytes);
    if (before != context->registered.begin() && (--before)->first + before->second > address) {
      return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
    context->registered[address] = bytes;
    return CUDA_SUCCESS;
  });
}

STUB cuMemHostUnregister(void* host) {
  return in_context([=](CUcontext context) {
    return context->registered.erase(reinterpret_cast<uintptr_t>(host)) == 0
               ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
               : CUDA_SUCCESS;
  });
}

STUB cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* host, unsigned int flags) {
  return in_context([=](CUcontext context) {
    *address = reinterpret_cast<CUdeviceptr>(host);
    return flags == 0 && valid(context, *address, 1) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

STUB cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return in_context([=](CUcontext) {
    *least = 0;
    *greatest = -5;
    return CUDA_SUCCESS;
  });
}

STUB cuStreamCreateWithPriority(CUstream* stream, unsigned int, int) {
  return in_context([=](CUcontext c) { return create(c, reinterpret_cast<void**>(stream)); });
}

STUB cuStreamDestroy_v2(CUstream stream) {
  return in_context([=](CUcontext c) { return destroy(c, stream); });
}

STUB cuStreamQuery(CUstream stream) {
  return in_context([=](CUcontext c) { return known(c, stream); });
}

STUB cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int) {
  return in_context([=](CUcontext c) {
    return known(c, stream) == CUDA_SUCCESS ? known(c, event) : CUDA_ERROR_INVALID_HANDLE;
  });
}

STUB cuEventCreate(CUevent* event, unsigned int) {
  return in_context([=](CUcontext c) { return create(c, reinterpret_cast<void**>(event)); });
}

STUB cuEventDestroy_v2(CUevent event) {
  return in_context([=](CUcontext c) { return destroy(c, event); });
}

STUB cuEventRecord(CUevent event, CUstream stream) {
  return in_context([=](CUcontext c) {
    return known(c, stream) == CUDA_SUCCESS ? known(c, event) : CUDA_ERROR_INVALID_HANDLE;
  });
}

STUB cuEventQuery(CUevent event) {
  return in_context([=](CUcontext c) { return known(c, event); });
}

STUB cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return in_context([=](CUcontext context) {
    if (known(context, stream) != CUDA_SUCCESS || !valid(context, to, bytes)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return CUDA_SUCCESS;
  });
}

STUB cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return in_context([=](CUcontext context) {
    if (known(context, stream) != CUDA_SUCCESS || !valid(context, from, bytes)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return CUDA_SUCCESS;
  });
}

STUB cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return in_context([=](CUcontext context) {
    if (known(context, stream) != CUDA_SUCCESS || copy->srcMemoryType != CU_MEMORYTYPE_HOST ||
        copy->dstMemoryType != CU_MEMORYTYPE_DEVICE || copy->dstPitch < copy->WidthInBytes ||
        copy->srcPitch < copy->WidthInBytes || copy->srcXInBytes != 0 || copy->srcY != 0 ||
        copy->dstXInBytes != 0 || copy->dstY != 0 ||
        !valid(context, copy->dstDevice, (copy->Height - 1) * copy->dstPitch + copy->WidthInBytes)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t row = 0; row < copy->Height; row++) {
      std::memcpy(reinterpret_cast<char*>(copy->dstDevice) + row * copy->dstPitch,
                  static_cast<const char*>(copy->srcHost) + row * copy->srcPitch,
                  copy->WidthInBytes);
    }
    return CUDA_SUCCESS;
  });
}

STUB cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
  return in_context([=](CUcontext context) {
    if (known(context, stream) != CUDA_SUCCESS || !valid(context, to, bytes)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    std::memset(reinterpret_cast<void*>(to), value, bytes);
    return CUDA_SUCCESS;
  });
}

STUB cuModuleLoadData(CUmodule* module, const void* image) {
  return in_context([=](CUcontext context) {
    uint32_t magic;
    std::memcpy(&magic, image, sizeof(magic));
    return magic == kElf ? create(context, reinterpret_cast<void**>(module))
                            : CUDA_ERROR_INVALID_IMAGE;
  });
}

STUB cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return in_context([=](CUcontext context) {
    if (known(context, module) != CUDA_SUCCESS) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    auto has = reinterpret_cast<int (*)(const char*)>(host_symbol("vamana_simt_has_kernel"));
    if (has == nullptr || has(name) == 0) {
      return CUDA_ERROR_NOT_FOUND;
    }
    *function = new CUfunc_st{name};
    functions.push_back(*function);
    return CUDA_SUCCESS;
  });
}

STUB cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction) {
  return in_context([=](CUcontext) {
    *value = 0;
    return attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? CUDA_SUCCESS
                                                            : CUDA_ERROR_INVALID_VALUE;
  });
}

STUB cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return in_context([=](CUcontext) {
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
        value <= kSharedBytesPerBlock) {
      function->most_shared_bytes = value;
      return CUDA_SUCCESS;
    }
    return attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  });
}

STUB cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int threads,
                                                 size_t shared_bytes) {
  return in_context([=](CUcontext) {
    if (threads < 1 || threads > 1024) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    int by_memory = static_cast<int>(kSharedBytesPerMultiprocessor / (shared_bytes + 1024));
    *blocks = std::min({kBlocksPerMultiprocessor, kThreadsPerMultiprocessor / threads, by_memory});
    return CUDA_SUCCESS;
  });
}

STUB cuLaunchKernel(CUfunction function, unsigned int blocks_x, unsigned int blocks_y,
                    unsigned int blocks_z, unsigned int threads_x, unsigned int threads_y,
                    unsigned int threads_z, unsigned int shared_bytes, CUstream stream,
                    void** parameters, void** extra) {
  return in_context([=](CUcontext context) {
    if (known(context, stream) != CUDA_SUCCESS || blocks_x == 0 || threads_x == 0 ||
        threads_x > 1024 || blocks_y * blocks_z * threads_y * threads_z != 1 ||
        shared_bytes > static_cast<unsigned int>(function->most_shared_bytes) ||
        parameters == nullptr || extra != nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    auto launch = reinterpret_cast<const char* (*)(const char*, const void*, uint32_t, uint32_t, uint32_t,
                                                   uint32_t, uint64_t, uint32_t)>(
        host_symbol("vamana_simt_launch"));
    const Parameter parameter(parameters[0]);
    if (launch(function->name.c_str(), parameter.bytes, sizeof parameter.bytes, blocks_x, threads_x, shared_bytes,
               0, 1) != nullptr) {
      context->lost = CUDA_ERROR_LAUNCH_FAILED;
    }
    return CUDA_SUCCESS;
  });
}
