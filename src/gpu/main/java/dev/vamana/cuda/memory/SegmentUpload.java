package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.Limits;
import dev.vamana.cuda.kernel.WalkLayouts.SegmentLayout;
import dev.vamana.pq.Codebook;
import dev.vamana.search.SegmentView;
import dev.vamana.vectors.ArrayCopy;
import dev.vamana.vectors.FileCheck;
import dev.vamana.vectors.FileChecks;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Uploads one segment according to a plan. Runs on the upload thread, between {@link
 * DeviceMemory#enter} and {@link DeviceMemory#exit}.
 */
final class SegmentUpload {

  // bytes of rows converted in place between two calls of abort
  private static final long SLICE_BYTES = 64L << 20;

  private final Lease lease;
  private final SegmentView view;
  private final PlacementPlan plan;
  private final DeviceMemory memory;
  private final CudaDriver driver;
  private final Runnable abort;
  private final List<MappedRegistrations.Range> ranges = new ArrayList<>();
  private BounceBuffers buffers;
  private BlockWriter writer;
  private float[] center;
  private boolean whole;
  private long block;
  private long raw;

  /**
   * Prepares an upload.
   *
   * @param abort throws when the upload should stop; called every few megabytes
   */
  SegmentUpload(Lease lease, PlacementPlan plan, DeviceMemory memory, Runnable abort) {
    this.lease = lease;
    this.view = lease.view();
    this.plan = plan;
    this.memory = memory;
    this.driver = memory.driver();
    this.abort = abort;
  }

  /** Returns the bytes copied so far. */
  long copiedBytes() {
    return writer.copied();
  }

  /**
   * Uploads the segment. On failure all resources are freed.
   *
   * @throws GpuException with {@link GpuException.Kind#OUT_OF_MEMORY} if it does not fit, with
   *     {@link GpuException.Kind#NOT_SUPPORTED} if another placement may be possible
   * @throws org.apache.lucene.index.CorruptIndexException if a checksum does not match
   * @throws org.apache.lucene.store.AlreadyClosedException if the segment was closed or evicted
   */
  Resident run() throws IOException {
    for (FileCheck file : files()) {
      file.check(abort);
    }
    if (memory.device().tryReserve(plan.deviceBytes()) == false) {
      throw new GpuException(
          GpuException.Kind.OUT_OF_MEMORY,
          plan.deviceBytes() + " bytes do not fit: " + memory.device());
    }
    boolean success = false;
    try {
      buffers = memory.buffers();
      block = driver.allocate(plan.deviceBytes());
      writer = new BlockWriter(driver, buffers, block, abort);
      copyAll();
      buffers.finish();
      success = true;
      return new Resident(lease, plan, memory, block, raw, whole, ranges);
    } finally {
      if (success == false) {
        undo();
      }
    }
  }

  /** Returns the files of which this reads or registers all bytes of the segment's field. */
  private List<FileCheck> files() {
    FileChecks checks = view.fileChecks();
    List<FileCheck> files = new ArrayList<>();
    if (plan.indexOnDevice() || plan.placement() == Placement.MAPPED_GRAPH) {
      files.add(checks.graph());
    }
    if (plan.raw() == RawVectors.DEVICE || plan.raw() == RawVectors.MAPPED || plan.converts()) {
      files.add(checks.vectors());
    }
    if (plan.codeStride() > 0) {
      files.add(checks.codes());
    }
    files.removeIf(file -> file == null);
    return files;
  }

  private void undo() {
    try {
      if (block != 0) {
        buffers.finish();
      }
    } catch (GpuException e) {
      // freeing the block waits for the copies too
    }
    Resident.free(memory, plan.deviceBytes(), block, ranges);
  }

  private void copyAll() throws IOException {
    SegmentShape shape = plan.shape();
    if (plan.ifRoom() && wide()) {
      tryCopies();
    }
    long graph = 0;
    if (plan.graphOnDevice()) {
      graph = block + plan.graph();
      putRows(view.graphRegion(), shape.graphStride() * Integer.BYTES, plan.graph());
    } else if (plan.placement() == Placement.MAPPED_GRAPH) {
      graph = register(view.graphRegion());
    }
    if (plan.raw() == RawVectors.DEVICE) {
      raw = block + plan.rawCopy();
      putRows(view.vectorsRegion(), shape.vectorBytes(), plan.rawCopy());
    } else if (plan.raw() == RawVectors.MAPPED) {
      raw = register(view.vectorsRegion());
    }
    if (plan.lists() != null) {
      new ListUpload(writer, plan, block).run(view.lists());
    }
    if (plan.codeStride() > 0) {
      putRows(view.codesRegion(), shape.subspaces(), plan.codes());
    }
    if (plan.subspaces() > 0) {
      copyCodebook(plan.lists() == null ? view.codebook() : view.lists().codebook());
    }
    if (plan.converts()) {
      convert();
    }
    copyDescriptor(graph);
  }

  private long register(FileRegion region) {
    MappedRegistrations.Range range = memory.registrations().register(region.segment(), abort);
    ranges.add(range);
    return range.deviceAddress();
  }

  private void putRows(FileRegion region, int width, long offset) throws IOException {
    checkRegion(region, width);
    writer.putRows(offset, region, plan.shape().size(), width);
  }

  private void checkRegion(FileRegion region, int width) {
    if (region.length() != (long) plan.shape().size() * width) {
      throw new IllegalArgumentException(
          region + " of " + view.name() + " is not " + plan.shape().size() + " rows of " + width);
    }
  }

  /** Copies the codebook in column order, and the largest centroid norm of each subspace. */
  private void copyCodebook(Codebook codebook) {
    float[] centroids = codebook.centroids();
    int subspaces = codebook.layout().count();
    float[] norms = new float[subspaces];
    writer.put(
        plan.columns(),
        (long) plan.shape().dimension() * Limits.CENTROIDS * Float.BYTES,
        columns -> {
          long at = 0;
          for (int s = 0; s < subspaces; s++) {
            int length = codebook.layout().length(s);
            int start = Limits.CENTROIDS * codebook.layout().offset(s);
            norms[s] = largestNorm(centroids, start, length);
            for (int i = 0; i < length; i++) {
              for (int c = 0; c < Limits.CENTROIDS; c++) {
                float component = centroids[start + c * length + i];
                columns.setAtIndex(ValueLayout.JAVA_FLOAT, at++, component);
              }
            }
          }
        });
    writer.put(
        plan.norms(),
        (long) subspaces * Float.BYTES,
        target -> ArrayCopy.toMemory(norms, 0, target, 0, subspaces));
  }

  private static float largestNorm(float[] centroids, int start, int length) {
    double largest = 0;
    for (int c = 0; c < Limits.CENTROIDS; c++) {
      double squared = 0;
      for (int i = 0; i < length; i++) {
        double component = centroids[start + c * length + i];
        squared += component * component;
      }
      largest = Math.max(largest, squared);
    }
    // rounded up, so that the norm stays an upper bound
    return Math.nextUp((float) Math.sqrt(largest));
  }

  private void convert() throws IOException {
    VectorConversion conversion = new VectorConversion(driver, plan, block);
    VectorConversion.Rows rows = raw == 0 ? this::staged : this::inPlace;
    if (plan.placement() == Placement.EXACT_FLOAT16) {
      conversion.toHalves(buffers, rows);
    } else {
      boolean unit = view.similarity() == VectorSimilarityFunction.COSINE;
      whole =
          conversion.toBytes(buffers, rows, center(), unit)
              && CopyCenter.exactIfWhole(plan.shape(), view.similarity());
      if (whole == false && plan.ifRoom() && wide() == false) {
        throw new GpuException(
            GpuException.Kind.NOT_SUPPORTED,
            view.name() + " has vectors that copies in bytes round");
      }
    }
  }

  private float[] center() throws IOException {
    if (center == null) {
      center = CopyCenter.of(view.vectorsRegion(), plan.shape(), view.similarity(), abort);
    }
    return center;
  }

  /** Whether copies pay though they round. */
  private boolean wide() {
    return Placement.usual(plan.shape().dimension()) == Placement.EXACT_INT8;
  }

  /** Refuses copies that no setting asks for if they lose precision that walks need. */
  private void tryCopies() throws IOException {
    double kept = CopyTrial.kept(view, plan.shape(), center(), abort);
    if (kept < CopyTrial.LEAST_KEPT) {
      throw new GpuException(
          GpuException.Kind.NOT_SUPPORTED,
          "copies in bytes keep " + kept + " of the near neighbours of " + view.name());
    }
  }

  /** Passes rows that the device can read already. */
  private void inPlace(VectorConversion.Slice slice) {
    buffers.finish();
    int stride = plan.rawStride();
    long rows = plan.shape().size();
    long most = Math.max(1, SLICE_BYTES / stride);
    for (long row = 0; row < rows; row += most) {
      abort.run();
      BounceBuffers.Buffer buffer = buffers.next();
      slice.accept(raw + row * stride, stride, row, Math.min(most, rows - row), buffer.stream());
    }
    buffers.finish();
  }

  /** Passes rows through the upload buffers. */
  private void staged(VectorConversion.Slice slice) throws IOException {
    int width = plan.shape().vectorBytes();
    FileRegion region = view.vectorsRegion();
    checkRegion(region, width);
    writer.read(
        region,
        plan.shape().size(),
        width,
        (buffer, rows, first, count) ->
            slice.accept(buffer.deviceAddress(), width, first, count, buffer.stream()));
  }

  private void copyDescriptor(long graph) {
    writer.put(
        0,
        SegmentLayout.BYTES,
        target -> SegmentDescriptor.write(target, view, plan, block, graph, raw, whole));
  }
}
