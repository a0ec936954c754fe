package dev.vamana.cuda.training;

import dev.vamana.cuda.kernel.BuildLayouts.KMeansLayout;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.RowSource;
import dev.vamana.vectors.ArrayCopy;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Encodes vectors with a codebook on the device, with the kernels that assign rows in training. For
 * one thread.
 */
public final class DeviceEncoder extends FedRows {

  private final int codeLength;

  /** Allocates memory and copies the codebook. The calling thread holds the device's lock. */
  DeviceEncoder(TrainingDevice device, Codebook codebook) {
    super(
        device,
        (long) codebook.centroids().length * Float.BYTES,
        host -> host.copyFrom(MemorySegment.ofArray(codebook.centroids())),
        codebook.layout().dims(),
        codebook.layout().count());
    this.codeLength = codebook.layout().count();
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.SUBSPACES, codeLength);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.K, Codebook.CENTROIDS);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.MAX_LENGTH, codebook.layout().maxLength());
  }

  /**
   * Encodes rows {@code 0 <= row < count}.
   *
   * @param target receives {@code count} codes
   * @param workers threads that read the rows
   * @throws IOException from {@code source} or {@code abort}, unchanged
   * @throws dev.vamana.cuda.driver.GpuException if the device fails
   */
  public void encode(RowSource source, int count, byte[] target, Workers workers, AbortCheck abort)
      throws IOException {
    Answers codes =
        (found, first, number) ->
            ArrayCopy.toArray(found, 0, target, first * codeLength, number * codeLength);
    run(source, count, codes, workers, abort);
  }

  @Override
  void place(long address, int count) {
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.CODES, address);
  }
}
