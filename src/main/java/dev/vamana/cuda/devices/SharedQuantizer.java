package dev.vamana.cuda.devices;

import dev.vamana.pq.Codebook;
import dev.vamana.pq.PqEngine;
import dev.vamana.pq.PqTrainer;
import dev.vamana.pq.RowSource;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.pq.TrainingSample;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.List;

/** Trains, encodes and assigns on the device that builds the fewest graphs and codebooks. */
final class SharedQuantizer implements PqEngine {

  private final List<Member> members;

  SharedQuantizer(List<Member> members) {
    this.members = members;
  }

  @Override
  public float[] train(
      TrainingSample sample,
      SubspaceLayout layout,
      PqTrainer.Options options,
      Workers workers,
      AbortCheck abort)
      throws IOException {
    Member member = SharedGraphs.leastBuilding(members);
    Member.Build build = member.build();
    try {
      return member.executor.quantizer().train(sample, layout, options, workers, abort);
    } finally {
      build.close();
    }
  }

  @Override
  public Assigner assigner(float[][] centroids, int vectors, Workers workers, AbortCheck abort)
      throws IOException {
    Member member = SharedGraphs.leastBuilding(members);
    Assigner assigner = member.executor.quantizer().assigner(centroids, vectors, workers, abort);
    if (assigner == null) {
      return null;
    }
    Member.Build build = member.build();
    return new Assigner() {
      @Override
      public boolean assign(RowSource rows, int count, int[] found, float[] distances)
          throws IOException {
        return assigner.assign(rows, count, found, distances);
      }

      @Override
      public void close() {
        build.close();
        assigner.close();
      }
    };
  }

  @Override
  public Encoder encoder(Codebook codebook, int vectors, Workers workers, AbortCheck abort)
      throws IOException {
    Member member = SharedGraphs.leastBuilding(members);
    Encoder encoder = member.executor.quantizer().encoder(codebook, vectors, workers, abort);
    if (encoder == null) {
      return null;
    }
    Member.Build build = member.build();
    return new Encoder() {
      @Override
      public boolean encode(RowSource rows, int count, byte[] codes) throws IOException {
        return encoder.encode(rows, count, codes);
      }

      @Override
      public void close() {
        build.close();
        encoder.close();
      }
    };
  }
}
