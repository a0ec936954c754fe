package dev.vamana.tools.gpu.node;

import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Processor time of a node's threads, by purpose. It is read from the thread dump that a JVM writes
 * on the signal QUIT. The dump has every thread's full name and time, and costs the node nothing
 * while it is measured.
 */
public final class ThreadTimes {

  private static final Pattern THREAD =
      Pattern.compile("^\"(.*)\" .*\\bcpu=([0-9.]+)ms ", Pattern.MULTILINE);
  private static final Pattern POOL = Pattern.compile("^elasticsearch\\[[^\\]]*\\]\\[(\\w+)\\]");
  private static final String END = "JNI global refs";
  private static final long TIMEOUT_NANOS = 20_000_000_000L;

  private final Map<String, Double> millis;

  private ThreadTimes(Map<String, Double> millis) {
    this.millis = millis;
  }

  /** Reads the current times of a node's threads. */
  public static ThreadTimes of(RunningNode node) throws IOException {
    int from = node.log().length();
    try {
      Process kill = new ProcessBuilder("sh", "-c", "kill -QUIT " + node.pid()).start();
      if (kill.waitFor() != 0) {
        throw new IOException("no signal could be sent to process " + node.pid());
      }
      long deadline = System.nanoTime() + TIMEOUT_NANOS;
      while (System.nanoTime() < deadline) {
        String dump = node.log().substring(from);
        if (dump.contains(END)) {
          return parse(dump);
        }
        Thread.sleep(50);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for a thread dump", e);
    }
    throw new IOException("the node wrote no thread dump" + node.logTail());
  }

  /** Parses a thread dump. */
  static ThreadTimes parse(String dump) {
    Map<String, Double> millis = new TreeMap<>();
    Matcher thread = THREAD.matcher(dump);
    while (thread.find()) {
      millis.merge(group(thread.group(1)), Double.parseDouble(thread.group(2)), Double::sum);
    }
    return new ThreadTimes(millis);
  }

  private static String group(String thread) {
    Matcher pool = POOL.matcher(thread);
    if (pool.find()) {
      return switch (pool.group(1)) {
        case "search", "search_worker", "search_coordination" -> "search";
        case "transport_worker" -> "http";
        case "write" -> "write";
        default -> "other";
      };
    }
    if (thread.startsWith("vamana")) {
      return "gpu";
    }
    if (thread.startsWith("G1") || thread.startsWith("GC") || thread.startsWith("VM Thread")) {
      return "gc";
    }
    return thread.startsWith("C1 ") || thread.startsWith("C2 ") ? "jit" : "other";
  }

  /**
   * Returns microseconds of processor time per request since an earlier state, by group of threads.
   *
   * @param requests number of requests answered in between, at least one
   */
  public Map<String, Double> microsPerRequest(ThreadTimes before, long requests) {
    Map<String, Double> result = new TreeMap<>();
    millis.forEach(
        (group, time) -> {
          double spent = Math.max(0, time - before.millis.getOrDefault(group, 0.0));
          result.put(group, spent * 1e3 / requests);
        });
    return result;
  }
}
