package dev.vamana.tools.gpu.node;

import dev.vamana.tools.cells.SegmentedIndex;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The indices of a trial of cells: one of each type for each number of segments. */
final class CellIndices {

  /** Types of index options by method. */
  private static final Map<String, String> TYPES =
      Map.of(
          CellTrial.GPU,
          "vamana",
          CellTrial.CPU,
          "vamana",
          CellTrial.STOCK,
          "hnsw",
          CellTrial.INT8,
          "int8_hnsw");

  private final CellTrial.Plan plan;
  private final CellTrial.Findings findings;

  CellIndices(CellTrial.Plan plan, CellTrial.Findings findings) {
    this.plan = plan;
    this.findings = findings;
  }

  /** Whether a method searches our index. */
  static boolean isOurs(String method) {
    return TYPES.get(method).equals(TYPES.get(CellTrial.GPU));
  }

  /** Returns the name of the index that a method searches. */
  static String name(String method, int segments) {
    return nameOfType(TYPES.get(method), segments);
  }

  private static String nameOfType(String type, int segments) {
    return "cells-" + segments + "-" + type.replace('_', '-');
  }

  /** Fills the indices that are not there, side by side: each index is filled by one thread. */
  void fill(RunningNode node) throws IOException {
    List<String> types =
        TYPES.entrySet().stream()
            .filter(type -> plan.methods().isEmpty() || plan.methods().contains(type.getKey()))
            .map(Map.Entry::getValue)
            .distinct()
            .sorted()
            .toList();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<Future<?>> filling = new ArrayList<>();
      for (int segments : plan.segments()) {
        for (String type : types) {
          filling.add(
              threads.submit(
                  () -> {
                    fill(node, type, segments);
                    return null;
                  }));
        }
      }
      for (Future<?> one : filling) {
        one.get();
      }
    } catch (ExecutionException e) {
      throw new IOException("an index was not filled: " + e.getCause(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while indices were filled", e);
    }
  }

  private void fill(RunningNode node, String type, int segments) throws IOException {
    String name = nameOfType(type, segments);
    KnnIndex index = new KnnIndex(node.client(), name, name);
    SegmentedIndex segmented = new SegmentedIndex(node.client(), plan.set(), index);
    if (segmented.isThere(segments)) {
      return;
    }
    long start = System.nanoTime();
    boolean ours = type.equals(TYPES.get(CellTrial.GPU));
    segmented.createAndFill(
        ours ? "hnsw" : type, ours ? Map.of("index.vamana.enabled", "true") : Map.of(), segments);
    findings.say("%s: filled in %.1f s", name, (System.nanoTime() - start) / 1e9);
  }
}
