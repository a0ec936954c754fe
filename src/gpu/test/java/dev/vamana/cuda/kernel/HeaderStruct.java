package dev.vamana.cuda.kernel;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A structure that kernels and Java share, as the headers of the kernels define it. Fields lie one
 * behind the other, each at a multiple of its size; the compiler checks the size that follows from
 * that with a {@code static_assert} of the header.
 *
 * @param bytes size of the structure
 * @param fields its fields by name
 */
record HeaderStruct(int bytes, Map<String, Field> fields) {

  /** A field: offset and size in bytes. */
  record Field(int offset, int size) {}

  private static final Path HEADERS = Path.of("native-kernels", "include", "vamana");
  private static final Map<String, Integer> SIZES =
      Map.of("uint64_t", 8, "double", 8, "uint32_t", 4, "int32_t", 4, "float", 4);
  private static final Pattern FIELD = Pattern.compile("(?m)^  (\\w+) (\\w+);");

  /** Reads a structure, which is in one of the headers. */
  static HeaderStruct of(String name) {
    for (String header : headers()) {
      Matcher struct =
          Pattern.compile("(?s)\nstruct " + name + " \\{\n(.*?)\n\\};").matcher(header);
      if (struct.find()) {
        HeaderStruct read = read(struct.group(1));
        if (header.contains("static_assert(sizeof(" + name + ") == " + read.bytes + ",") == false) {
          throw new AssertionError("no static_assert that " + name + " has " + read.bytes);
        }
        return read;
      }
    }
    throw new AssertionError("no struct " + name);
  }

  private static HeaderStruct read(String body) {
    Map<String, Field> fields = new TreeMap<>();
    int end = 0;
    int alignment = 1;
    Matcher field = FIELD.matcher(body);
    while (field.find()) {
      Integer size = SIZES.get(field.group(1));
      int bytes = size == null ? of(field.group(1)).bytes() : size;
      int multiple = size == null ? Long.BYTES : size;
      end = (end + multiple - 1) / multiple * multiple;
      fields.put(field.group(2), new Field(end, bytes));
      end += bytes;
      alignment = Math.max(alignment, multiple);
    }
    return new HeaderStruct((end + alignment - 1) / alignment * alignment, fields);
  }

  private static List<String> headers() {
    try (Stream<Path> files = Files.walk(HEADERS)) {
      return files.filter(file -> file.toString().endsWith(".h")).map(HeaderStruct::text).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
