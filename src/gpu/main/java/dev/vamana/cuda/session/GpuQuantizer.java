package dev.vamana.cuda.session;

import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.selftest.Samples;
import dev.vamana.cuda.training.NearestCentroids;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.PqEngine;
import dev.vamana.pq.PqTrainer;
import dev.vamana.pq.RowSource;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.pq.TrainingSample;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import org.apache.lucene.util.IOConsumer;
import org.apache.lucene.util.IOFunction;

/**
 * Trains codebooks, encodes vectors and finds nearest centroids on the device. It leaves to the CPU
 * work that is too small to gain from the device, and work that failed. {@code GpuExecutor} has
 * one, beside {@link GpuGraphs}.
 */
public final class GpuQuantizer implements PqEngine {

  private final SessionKeeper keeper;
  private final TrainingCounters counters;
  private final long leastComponents;

  /**
   * Makes an engine.
   *
   * @param leastComponents least number of components (vectors times dimension) for the device
   */
  public GpuQuantizer(SessionKeeper keeper, TrainingCounters counters, long leastComponents) {
    this.keeper = keeper;
    this.counters = counters;
    this.leastComponents = leastComponents;
  }

  /** Enters the current session, or returns null if the CPU has to do the work. */
  private GpuSession enter(long vectors, int dims) {
    return counters.enter(keeper, vectors * dims >= leastComponents);
  }

  @Override
  public float[] train(
      TrainingSample sample,
      SubspaceLayout layout,
      PqTrainer.Options options,
      Workers workers,
      AbortCheck abort)
      throws IOException {
    GpuSession session = enter(sample.size(), sample.dims());
    if (session == null) {
      return null;
    }
    try {
      long start = System.nanoTime();
      float[] centroids =
          session.training.train(sample, layout, options, workers, session.whileTrusted(abort));
      session.checkTrusted();
      counters.codebooks.increment();
      counters.codebookNanos.add(System.nanoTime() - start);
      return centroids;
    } catch (GpuException e) {
      counters.failed(keeper, session, e);
      return null;
    } finally {
      session.exit();
    }
  }

  @Override
  public Encoder encoder(Codebook codebook, int vectors, Workers workers, AbortCheck abort)
      throws IOException {
    InSession opened =
        open(
            vectors,
            codebook.layout().dims(),
            session -> session.training.encoder(codebook, session.whileTrusted(abort)));
    return opened == null
        ? null
        : new Encoder() {
          @Override
          public boolean encode(RowSource rows, int count, byte[] codes) throws IOException {
            return opened.did(
                device -> {
                  device.encode(rows, count, codes, workers, opened.session.whileTrusted(abort));
                  opened.check(Samples.wrongCode(codebook, rows, count, codes));
                  counters.vectorsEncoded.add(count);
                });
          }

          @Override
          public void close() {
            opened.close();
          }
        };
  }

  @Override
  public Assigner assigner(float[][] centroids, int vectors, Workers workers, AbortCheck abort)
      throws IOException {
    InSession opened =
        open(
            vectors,
            centroids[0].length,
            session -> session.training.assigner(centroids, session.whileTrusted(abort)));
    return opened == null
        ? null
        : new Assigner() {
          @Override
          public boolean assign(RowSource rows, int count, int[] found, float[] distances)
              throws IOException {
            return opened.did(
                device -> {
                  AbortCheck own = opened.session.whileTrusted(abort);
                  device.assign(rows, count, found, distances, workers, own);
                  opened.check(Samples.wrongCentroid(centroids, rows, count, found, distances));
                  counters.vectorsAssigned.add(count);
                });
          }

          @Override
          public void close() {
            opened.close();
          }
        };
  }

  /** Opens something that stays in the current session, or returns null. */
  private InSession open(int vectors, int dims, IOFunction<GpuSession, NearestCentroids> opener)
      throws IOException {
    GpuSession session = enter(vectors, dims);
    if (session == null) {
      return null;
    }
    InSession opened = null;
    try {
      opened = new InSession(session, opener.apply(session));
    } catch (GpuException e) {
      counters.failed(keeper, session, e);
    } finally {
      if (opened == null) {
        session.exit();
      }
    }
    return opened;
  }

  /** Something with device memory that stays in its session until it is closed or fails. */
  private final class InSession {

    private final GpuSession session;
    private NearestCentroids device;

    InSession(GpuSession session, NearestCentroids device) {
      this.session = session;
      this.device = device;
    }

    /** Throws if the context has answered wrong, here or elsewhere. */
    void check(String wrong) {
      session.check(wrong);
      session.checkTrusted();
    }

    /** Returns whether the device did the work; what failed once is not tried again. */
    boolean did(IOConsumer<NearestCentroids> work) throws IOException {
      if (device == null) {
        return false;
      }
      try {
        work.accept(device);
        return true;
      } catch (GpuException e) {
        counters.failed(keeper, session, e);
        close();
        return false;
      }
    }

    void close() {
      NearestCentroids last = device;
      device = null;
      if (last == null) {
        return;
      }
      try {
        last.close();
      } catch (GpuException e) {
        // only closing the context gives the encoder's memory back now
        keeper.failed(session, e.asLoss());
      } finally {
        session.exit();
      }
    }
  }
}
