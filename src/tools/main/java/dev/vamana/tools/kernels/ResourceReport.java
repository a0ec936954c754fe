package dev.vamana.tools.kernels;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Registers, stack and spills of each kernel, read from what the assembler logs. */
final class ResourceReport {

  /** Heading of the report. */
  static final String COLUMNS =
      "# module architecture kernel registers stack_bytes spill_store_bytes spill_load_bytes";

  private static final Pattern ENTRY = Pattern.compile("Compiling entry function '(\\w+)'");
  private static final Pattern STACK =
      Pattern.compile(
          "(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads");
  private static final Pattern REGISTERS = Pattern.compile("Used (\\d+) registers");

  private ResourceReport() {}

  /** One line for each kernel of a module. */
  static List<String> lines(String module, int architecture, String log) {
    List<String> lines = new ArrayList<>();
    String kernel = null;
    String stack = null;
    for (String line : log.split("\n")) {
      Matcher entry = ENTRY.matcher(line);
      Matcher bytes = STACK.matcher(line);
      Matcher registers = REGISTERS.matcher(line);
      if (entry.find()) {
        kernel = entry.group(1);
        stack = null;
      } else if (bytes.find() && stack == null) {
        stack = bytes.group(1) + " " + bytes.group(2) + " " + bytes.group(3);
      } else if (registers.find() && kernel != null) {
        lines.add(
            module + " sm_" + architecture + " " + kernel + " " + registers.group(1) + " " + stack);
        kernel = null;
      }
    }
    return lines;
  }
}
