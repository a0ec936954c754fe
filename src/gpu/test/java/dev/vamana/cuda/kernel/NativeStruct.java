package dev.vamana.cuda.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A parameter block with the fields of a header. */
final class NativeStruct {

  private final HeaderStruct struct;
  private final MemorySegment memory;

  NativeStruct(String name, Arena arena) {
    struct = HeaderStruct.of(name);
    memory = arena.allocate(struct.bytes(), 16);
  }

  NativeStruct set(String field, long value) {
    if (struct.fields().get(field).size() == Long.BYTES) {
      memory.set(ValueLayout.JAVA_LONG, offset(field), value);
    } else {
      memory.set(ValueLayout.JAVA_INT, offset(field), (int) value);
    }
    return this;
  }

  NativeStruct set(String field, float value) {
    memory.set(ValueLayout.JAVA_FLOAT, offset(field), value);
    return this;
  }

  NativeStruct set(String field, MemorySegment value) {
    return set(field, value == null ? 0 : value.address());
  }

  int get(String field) {
    return memory.get(ValueLayout.JAVA_INT, offset(field));
  }

  private int offset(String field) {
    return struct.fields().get(field).offset();
  }

  MemorySegment memory() {
    return memory;
  }
}
