// Stands in for libnvrtc.so.12: "compiles" every program to four bytes that the stand-in of the driver
// takes for machine code. The module convert.cu gets all kernels of the library of simulated threads, others get one of
// their own name.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <string>

#define STUB extern "C" __attribute__((visibility("default"))) int

namespace {

struct Program {
  std::string ptx;
  std::string log;
};

// The first bytes of machine code in ELF.
constexpr char kImage[] = {0x7F, 'E', 'L', 'F'};

// Entries of all functions of the library with C names.
std::string all_kernels() {
  void* library = dlopen(std::getenv("VAMANA_HOST_LIBRARY"), RTLD_NOW);
  link_map* map = nullptr;
  if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
    return "";
  }
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_SYMTAB) {
      symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
    } else if (entry->d_tag == DT_STRTAB) {
      names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    }
  }
  std::string ptx;
  // the names lie behind the symbols
  for (; reinterpret_cast<const char*>(symbols) < names; symbols++) {
    const std::string name = names + symbols->st_name;
    if (ELF64_ST_TYPE(symbols->st_info) == STT_FUNC && symbols->st_shndx != SHN_UNDEF && name.rfind("_", 0) != 0 &&
        name.rfind("vamana_", 0) != 0) {
      ptx += ".visible .entry " + name + "(\n";
    }
  }
  return ptx;
}

std::string kernels_of(const std::string& name) {
  return name == "convert.cu" ? all_kernels()
                              : ".visible .entry only_of_" + name.substr(0, name.find('.')) + "(\n";
}

}  // namespace

STUB nvrtcVersion(int* major, int* minor) {
  *major = 12;
  *minor = 9;
  return 0;
}

STUB nvrtcCreateProgram(Program** program, const char*, const char* name, int, const char* const*,
                        const char* const*) {
  *program = new Program{kernels_of(name), ""};
  return 0;
}

STUB nvrtcCompileProgram(Program* program, int options, const char* const* option) {
  for (int i = 0; i < options; i++) {
    if (std::strcmp(option[i], "-std=c++17") == 0) {
      return 0;
    }
  }
  program->log = "no standard was asked for";
  return 6;
}

STUB nvrtcGetProgramLogSize(Program* program, size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}

STUB nvrtcGetProgramLog(Program* program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return 0;
}

STUB nvrtcGetCUBINSize(Program*, size_t* size) {
  *size = sizeof(kImage);
  return 0;
}

STUB nvrtcGetCUBIN(Program*, char* image) {
  std::memcpy(image, kImage, sizeof(kImage));
  return 0;
}

STUB nvrtcGetPTXSize(Program* program, size_t* size) {
  *size = program->ptx.size() + 1;
  return 0;
}

STUB nvrtcGetPTX(Program* program, char* ptx) {
  std::memcpy(ptx, program->ptx.c_str(), program->ptx.size() + 1);
  return 0;
}

STUB nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return 0;
}

extern "C" __attribute__((visibility("default"))) const char* nvrtcGetErrorString(int result) {
  return result == 0 ? "NVRTC_SUCCESS" : "NVRTC_ERROR_COMPILATION";
}
