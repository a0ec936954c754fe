package dev.vamana.cuda.devices;

import dev.vamana.graph.GraphEngine;
import dev.vamana.graph.GraphTask;
import dev.vamana.graph.VamanaGraph;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.PqEngine;
import dev.vamana.pq.PqTrainer;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.pq.TrainingSample;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Trains, encodes, assigns and builds graphs on usable devices in turns. */
final class SharedEngines implements PqEngine, GraphEngine {

  private final List<Member> members;
  private final AtomicInteger turn = new AtomicInteger();

  SharedEngines(List<Member> members) {
    this.members = members;
  }

  /** Returns the next usable device, or the next one if none is usable. */
  private Member next() {
    int first = turn.getAndIncrement();
    for (int i = 0; i < members.size(); i++) {
      Member member = members.get(Math.floorMod(first + i, members.size()));
      if (member.executor().usable()) {
        return member;
      }
    }
    return members.get(Math.floorMod(first, members.size()));
  }

  @Override
  public VamanaGraph build(GraphTask task) throws IOException {
    return next().executor().graphs().build(task);
  }

  @Override
  public float[] train(
      TrainingSample sample,
      SubspaceLayout layout,
      PqTrainer.Options options,
      Workers workers,
      AbortCheck abort)
      throws IOException {
    return next().executor().quantizer().train(sample, layout, options, workers, abort);
  }

  @Override
  public Assigner assigner(float[][] centroids, int vectors, Workers workers, AbortCheck abort)
      throws IOException {
    return next().executor().quantizer().assigner(centroids, vectors, workers, abort);
  }

  @Override
  public Encoder encoder(Codebook codebook, int vectors, Workers workers, AbortCheck abort)
      throws IOException {
    return next().executor().quantizer().encoder(codebook, vectors, workers, abort);
  }
}
