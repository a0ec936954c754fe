package dev.vamana.cuda.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;

/** A parameter block with the field offsets of the C++ compiler. */
final class NativeStruct {

  private final Map<String, Integer> offsets = new HashMap<>();
  private final Map<String, Integer> sizes = new HashMap<>();
  private final MemorySegment memory;

  NativeStruct(HostLibrary library, String struct, Arena arena) {
    int bytes = 0;
    for (int i = 0; i < library.vamana_field_count(); i++) {
      String name = library.vamana_field_name(i);
      if (name.equals(struct)) {
        bytes = library.vamana_field_size(i);
      } else if (name.startsWith(struct + ".")) {
        String field = name.substring(struct.length() + 1);
        offsets.put(field, library.vamana_field_offset(i));
        sizes.put(field, library.vamana_field_size(i));
      }
    }
    memory = arena.allocate(bytes, 16);
  }

  NativeStruct set(String field, long value) {
    if (sizes.get(field) == Long.BYTES) {
      memory.set(ValueLayout.JAVA_LONG, offsets.get(field), value);
    } else {
      memory.set(ValueLayout.JAVA_INT, offsets.get(field), (int) value);
    }
    return this;
  }

  NativeStruct set(String field, float value) {
    memory.set(ValueLayout.JAVA_FLOAT, offsets.get(field), value);
    return this;
  }

  NativeStruct set(String field, MemorySegment value) {
    return set(field, value == null ? 0 : value.address());
  }

  int get(String field) {
    return memory.get(ValueLayout.JAVA_INT, offsets.get(field));
  }

  MemorySegment memory() {
    return memory;
  }
}
