package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.WalkLayouts.SegmentLayout;
import dev.vamana.pq.Codebook;
import dev.vamana.search.SegmentView;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Checks the contents of the device's memory after an upload, byte by byte. */
@LuceneTestCase.SuppressFileSystems("ExtrasFS")
public class UploadTests extends MemoryTestCase {

  private static final long DEVICE = 64 * MEGABYTE;
  private static final Runnable GO_ON = () -> {};

  private SimulatedDriver driver;
  private DeviceMemory memory;

  @Override
  public void setUp() throws Exception {
    super.setUp();
    driver = new SimulatedDriver(kernels, DEVICE, random().nextBoolean());
    memory = new DeviceMemory(driver, DEVICE, 16 * MEGABYTE);
    assertTrue(memory.enter());
  }

  @Override
  public void tearDown() throws Exception {
    assertEquals(0, memory.device().used());
    assertEquals(0, memory.pageCache().used());
    assertEquals(0, driver.deviceBytes());
    assertEquals(0, driver.registeredBytes());
    memory.exit();
    memory.close();
    driver.close();
    super.tearDown();
  }

  public void testEveryPlacement() throws IOException {
    for (boolean mapped : new boolean[] {true, false}) {
      int dimension = 1 + random().nextInt(70);
      int subspaces = 1 + random().nextInt(dimension);
      boolean compound = random().nextBoolean();
      VectorSimilarityFunction similarity = randomSimilarity();
      int size = 60 + random().nextInt(200);
      try (TestSegments segments =
          new TestSegments(
              mapped,
              compound,
              parameters(5 + random().nextInt(20), subspaces),
              similarity,
              dimension,
              size)) {
        for (String field : new String[] {FLOATS, BYTES}) {
          SegmentView view = segments.view(0, field);
          SegmentShape shape = SegmentShape.of(view);
          assertEquals(mapped, shape.graphMapped());
          assertEquals(mapped, shape.vectorsMapped());
          for (Placement placement : Placement.values()) {
            for (PlacementPlan plan :
                new PlacementPlanner(Placement.only(placement))
                    .candidates(shape, random().nextInt(4) > 0, false)) {
              check(view, plan);
            }
          }
        }
      }
    }
  }

  private void check(SegmentView view, PlacementPlan plan) throws IOException {
    SegmentUpload upload = new SegmentUpload(new Lease(view), plan, memory, GO_ON);
    Resident resident = upload.run();
    assertEquals(plan.deviceBytes(), memory.device().used());
    assertEquals(plan.deviceBytes(), driver.deviceBytes());
    assertEquals(memory.pageCache().used(), driver.registeredBytes());
    assertTrue(memory.pageCache().used() <= plan.mappedBytes());
    ResidentSegment use = resident.use();
    assertSame(view, use.view());
    assertEquals(plan.raw() != RawVectors.CALLER, use.reranksOnDevice());
    checkContents(view, plan, use.descriptor());
    use.release();
    assertTrue(resident.retire());
    resident.free();
    assertEquals(0, memory.device().used());
  }

  private void checkContents(SegmentView view, PlacementPlan plan, long descriptor)
      throws IOException {
    SegmentShape shape = plan.shape();
    ByteBuffer segment =
        ByteBuffer.wrap(device(driver, descriptor, SegmentLayout.BYTES))
            .order(ByteOrder.nativeOrder());
    int size = view.size();
    assertEquals(size, segment.getInt((int) SegmentLayout.SIZE));
    assertEquals(view.dimension(), segment.getInt((int) SegmentLayout.DIMENSION));
    assertEquals(view.medoid(), segment.getInt((int) SegmentLayout.MEDOID));
    assertEquals(view.similarity().ordinal(), segment.getInt((int) SegmentLayout.SIMILARITY));
    boolean bytes = view.encoding() == VectorEncoding.BYTE;
    assertEquals(bytes ? 1 : 0, segment.getInt((int) SegmentLayout.BYTE_SCORING));
    assertEquals(
        bytes ? SegmentLayout.FORMAT_BYTE : SegmentLayout.FORMAT_FLOAT32,
        segment.getInt((int) SegmentLayout.RAW_FORMAT));

    long graph = segment.getLong((int) SegmentLayout.GRAPH);
    int graphStride = segment.getInt((int) SegmentLayout.GRAPH_STRIDE);
    assertEquals((view.maxDegree() + 3) / 4 * 4, graphStride);
    if (plan.placement() == Placement.HOST_FETCH) {
      assertEquals(0, graph);
    } else if (plan.placement() == Placement.MAPPED_GRAPH) {
      assertEquals(view.graphRegion().segment().address(), graph);
    } else {
      assertArrayEquals(bytes(view.graphRegion()), device(driver, graph, size * graphStride * 4L));
    }
    checkRaw(view, plan, segment);
    checkVectors(view, plan, segment);

    long codes = segment.getLong((int) SegmentLayout.CODES);
    if (PlacementPlan.walksExact(plan.placement())) {
      assertEquals(0, codes);
      assertEquals(0, segment.getInt((int) SegmentLayout.SUBSPACES));
    } else {
      int stride = segment.getInt((int) SegmentLayout.CODE_STRIDE);
      assertEquals(shape.subspaces(), segment.getInt((int) SegmentLayout.SUBSPACES));
      assertArrayEquals(
          bytes(view.codesRegion()),
          rows(device(driver, codes, (long) size * stride), stride, shape.subspaces()));
      checkCodebook(view.codebook(), segment);
    }
  }

  private void checkRaw(SegmentView view, PlacementPlan plan, ByteBuffer segment)
      throws IOException {
    long raw = segment.getLong((int) SegmentLayout.RAW);
    int stride = segment.getInt((int) SegmentLayout.RAW_STRIDE);
    int width = plan.shape().vectorBytes();
    switch (plan.raw()) {
      case DEVICE ->
          assertArrayEquals(
              bytes(view.vectorsRegion()),
              rows(device(driver, raw, (long) view.size() * stride), stride, width));
      case MAPPED -> {
        assertEquals(view.vectorsRegion().segment().address(), raw);
        assertEquals(width, stride);
      }
      case CALLER -> assertEquals(0, raw);
    }
  }

  private void checkVectors(SegmentView view, PlacementPlan plan, ByteBuffer segment)
      throws IOException {
    long vectors = segment.getLong((int) SegmentLayout.VECTORS);
    int stride = segment.getInt((int) SegmentLayout.VECTOR_STRIDE);
    int format = segment.getInt((int) SegmentLayout.VECTOR_FORMAT);
    if (plan.placement() == Placement.EXACT_INT8) {
      checkCopies(view, segment);
      return;
    }
    assertEquals(0, segment.getLong((int) SegmentLayout.VECTOR_FACTS));
    assertEquals(0, segment.getLong((int) SegmentLayout.VECTOR_CENTER));
    if (PlacementPlan.walksExact(plan.placement()) == false) {
      assertEquals(0, vectors);
      return;
    }
    ByteBuffer stored =
        ByteBuffer.wrap(device(driver, vectors, (long) view.size() * stride))
            .order(ByteOrder.nativeOrder());
    ByteBuffer raw = ByteBuffer.wrap(bytes(view.vectorsRegion())).order(ByteOrder.LITTLE_ENDIAN);
    int dimension = view.dimension();
    for (int ordinal = 0; ordinal < view.size(); ordinal++) {
      for (int d = 0; d < dimension; d++) {
        int at = ordinal * dimension + d;
        int row = ordinal * stride;
        float exact =
            view.encoding() == VectorEncoding.BYTE ? raw.get(at) : raw.getFloat(at * Float.BYTES);
        switch (format) {
          case SegmentLayout.FORMAT_FLOAT32 ->
              assertEquals(exact, stored.getFloat(row + d * Float.BYTES), 0f);
          case SegmentLayout.FORMAT_FLOAT16 ->
              assertEquals(Float.floatToFloat16(exact), stored.getShort(row + d * Short.BYTES));
          default -> assertEquals(exact, stored.get(row + d), 0f);
        }
      }
    }
    int expected =
        switch (plan.placement()) {
          case EXACT_FLOAT16 -> SegmentLayout.FORMAT_FLOAT16;
          default -> segment.getInt((int) SegmentLayout.RAW_FORMAT);
        };
    assertEquals(expected, format);
  }

  /** Copies in bytes are as near to the vectors as their steps allow. */
  private void checkCopies(SegmentView view, ByteBuffer segment) throws IOException {
    int dimension = view.dimension();
    int size = view.size();
    int stride = segment.getInt((int) SegmentLayout.VECTOR_STRIDE);
    assertEquals(SegmentLayout.FORMAT_BYTE, segment.getInt((int) SegmentLayout.VECTOR_FORMAT));
    ByteBuffer raw = ByteBuffer.wrap(bytes(view.vectorsRegion())).order(ByteOrder.LITTLE_ENDIAN);
    ByteBuffer center = at(segment, SegmentLayout.VECTOR_CENTER, dimension * 4L);
    ByteBuffer facts = at(segment, SegmentLayout.VECTOR_FACTS, size * 8L);
    ByteBuffer stored = at(segment, SegmentLayout.VECTORS, (long) size * stride);
    boolean whole = view.similarity() == VectorSimilarityFunction.EUCLIDEAN;
    for (int ordinal = 0; ordinal < size; ordinal++) {
      double squares = 0;
      for (int d = 0; d < dimension; d++) {
        float component = raw.getFloat((ordinal * dimension + d) * Float.BYTES);
        squares += (double) component * component;
      }
      boolean unit = view.similarity() == VectorSimilarityFunction.COSINE && squares > 0;
      double factor = unit ? 1 / Math.sqrt(squares) : 1;
      float step = facts.getFloat(ordinal * 8);
      for (int d = 0; d < dimension; d++) {
        double exact =
            raw.getFloat((ordinal * dimension + d) * Float.BYTES) * factor
                - center.getFloat(d * Float.BYTES);
        assertEquals(exact, step * stored.get(ordinal * stride + d), 0.501 * step + 1e-6);
        whole &= step == 1 && exact == stored.get(ordinal * stride + d);
      }
    }
    assertEquals(whole ? 1 : 0, segment.getInt((int) SegmentLayout.WHOLE_COPIES));
  }

  private ByteBuffer at(ByteBuffer segment, long field, long bytes) {
    return ByteBuffer.wrap(device(driver, segment.getLong((int) field), bytes))
        .order(ByteOrder.nativeOrder());
  }

  private void checkCodebook(Codebook codebook, ByteBuffer segment) {
    int dimension = codebook.layout().dims();
    ByteBuffer columns =
        ByteBuffer.wrap(
                device(driver, segment.getLong((int) SegmentLayout.COLUMNS), dimension * 1024L))
            .order(ByteOrder.nativeOrder());
    ByteBuffer norms =
        ByteBuffer.wrap(
                device(
                    driver,
                    segment.getLong((int) SegmentLayout.CENTROID_NORMS),
                    codebook.layout().count() * 4L))
            .order(ByteOrder.nativeOrder());
    byte[] code = new byte[codebook.layout().count()];
    float[] decoded = new float[dimension];
    double[] largest = new double[code.length];
    for (int c = 0; c < Codebook.CENTROIDS; c++) {
      java.util.Arrays.fill(code, (byte) c);
      codebook.decode(code, 0, decoded);
      for (int s = 0; s < code.length; s++) {
        double squared = 0;
        int from = codebook.layout().offset(s);
        for (int d = from; d < from + codebook.layout().length(s); d++) {
          assertEquals(decoded[d], columns.getFloat((d * 256 + c) * Float.BYTES), 0f);
          squared += (double) decoded[d] * decoded[d];
        }
        largest[s] = Math.max(largest[s], Math.sqrt(squared));
      }
    }
    for (int s = 0; s < code.length; s++) {
      float norm = norms.getFloat(s * Float.BYTES);
      assertEquals(largest[s], norm, largest[s] * 1e-6);
      assertTrue(norm >= largest[s]);
    }
  }

  /** Several buffers full, of a codebook too. */
  public void testLargerThanABuffer() throws IOException {
    try (TestSegments segments =
        new TestSegments(
            true,
            random().nextBoolean(),
            parameters(4, 8),
            VectorSimilarityFunction.EUCLIDEAN,
            2000,
            700)) {
      SegmentView view = segments.view(0, FLOATS);
      SegmentShape shape = SegmentShape.of(view);
      assertTrue(shape.rawBytes() > BounceBuffers.BYTES);
      check(view, PlacementPlan.of(shape, Placement.EXACT, RawVectors.DEVICE));
      check(view, PlacementPlan.of(shape, Placement.EXACT_INT8, RawVectors.CALLER));
      check(view, PlacementPlan.of(shape, Placement.EXACT_FLOAT16, RawVectors.MAPPED));
    }
  }

  public void testAbort() throws IOException {
    try (TestSegments segments =
        new TestSegments(
            random().nextBoolean(),
            random().nextBoolean(),
            parameters(8, 4),
            VectorSimilarityFunction.EUCLIDEAN,
            16,
            100)) {
      SegmentView view = segments.view(0, FLOATS);
      SegmentShape shape = SegmentShape.of(view);
      PlacementPlan plan =
          PlacementPlan.of(
              shape,
              shape.graphMapped() ? Placement.MAPPED_GRAPH : Placement.EXACT_INT8,
              shape.graphMapped() ? RawVectors.MAPPED : RawVectors.CALLER);
      boolean done = false;
      for (int n = 1; done == false; n++) {
        int[] left = {n};
        Runnable abort =
            () -> {
              if (--left[0] == 0) {
                throw new AlreadyClosedException("closing");
              }
            };
        SegmentUpload upload = new SegmentUpload(new Lease(view), plan, memory, abort);
        try {
          Resident resident = upload.run();
          resident.retire();
          resident.free();
          done = true;
        } catch (AlreadyClosedException e) {
          assertEquals(0, left[0]);
        }
        assertEquals(0, memory.device().used());
        assertEquals(0, driver.registeredBytes());
      }
    }
  }

  public void testFileClosedMeanwhile() throws IOException {
    try (TestSegments segments =
        new TestSegments(
            random().nextBoolean(),
            random().nextBoolean(),
            parameters(8, 4),
            VectorSimilarityFunction.EUCLIDEAN,
            16,
            100)) {
      SegmentView view;
      PlacementPlan plan;
      try (TestSegments again = segments.reopen()) {
        view = again.view(0, FLOATS);
        plan = PlacementPlan.of(SegmentShape.of(view), Placement.EXACT, RawVectors.DEVICE);
      }
      expectThrows(
          AlreadyClosedException.class,
          () -> new SegmentUpload(new Lease(view), plan, memory, GO_ON).run());
    }
  }
}
