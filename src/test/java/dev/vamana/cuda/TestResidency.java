package dev.vamana.cuda;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.Limits;
import dev.vamana.cuda.kernel.WalkLayouts.SegmentLayout;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.Residency;
import dev.vamana.cuda.memory.ResidentBits;
import dev.vamana.cuda.memory.ResidentRows;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.graph.Adjacency;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.store.IndexInput;

/**
 * Uploads a segment at once when it is opened, with the placement of the test: {@link
 * Placement#EXACT}, {@link Placement#HOST_FETCH}, or {@link Placement#IN_MEMORY} with or without
 * raw vectors.
 */
final class TestResidency implements Residency {

  /** Where a segment is put. */
  record Choice(Placement placement, boolean raw) {}

  private static final int ALIGNMENT = 16;

  private final CudaDriver driver;
  private final Function<SegmentView, Choice> choices;
  private final Map<SegmentView, Resident> residents = new HashMap<>();
  private final Set<SegmentView> asked = new HashSet<>();
  private final Set<SegmentView> closed = new HashSet<>();
  private boolean abandoned;
  private boolean late;
  private boolean refuses;
  private int missed;
  private int looksLeft;

  TestResidency(CudaDriver driver, Function<SegmentView, Choice> choices) {
    this.driver = driver;
    this.choices = choices;
  }

  /** Refuses scratch from now on. */
  synchronized void refuse() {
    refuses = true;
  }

  @Override
  public synchronized boolean reserve(long bytes) {
    return refuses == false;
  }

  /** Lets segments that are asked for from now on wait until {@link #arrive}. */
  synchronized void delay() {
    late = true;
  }

  /** Puts all segments on the device that were asked for meanwhile. */
  synchronized void arrive() {
    late = false;
    asked.forEach(this::opened);
    asked.clear();
  }

  /** As {@link #arrive}, after somebody has looked so often where a segment is. */
  synchronized void arriveAfterLooks(int looks) {
    looksLeft = looks;
  }

  /** Lets each of the next calls that ask for a segment miss it by a moment. */
  synchronized void arriveJustAfter(int calls) {
    missed = calls;
  }

  @Override
  public synchronized void opened(SegmentView view) {
    if (late) {
      asked.add(view);
    }
    if (abandoned
        || closed.contains(view)
        || late
        || view.isIndexed() == false
        || residents.containsKey(view)
        || choices.apply(view) == null) {
      return;
    }
    driver.bind();
    residents.put(view, new Resident(view, choices.apply(view)));
  }

  @Override
  public synchronized void closing(SegmentView view) {
    closed.add(view);
    Resident resident = residents.remove(view);
    if (resident != null) {
      while (resident.users > 0 && abandoned == false) {
        waitHere();
      }
      if (abandoned == false) {
        driver.bind();
        resident.free();
      }
    }
  }

  private void waitHere() {
    try {
      wait();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public synchronized ResidentSegment acquire(SegmentView view) {
    opened(view);
    if (missed > 0) {
      missed--;
      return null;
    }
    Resident resident = residents.get(view);
    if (resident != null) {
      resident.users++;
    }
    return resident;
  }

  @Override
  public synchronized DevicePresence presence(SegmentView view) {
    Resident resident = residents.get(view);
    if (looksLeft > 0 && --looksLeft == 0) {
      DevicePresence before = absent(view);
      arrive();
      return before;
    }
    return resident == null
        ? absent(view)
        : DevicePresence.resident(resident.placement().settingName(), 1);
  }

  private DevicePresence absent(SegmentView view) {
    return late ? DevicePresence.waiting("unwanted") : DevicePresence.refused("unwanted");
  }

  @Override
  public synchronized void abandon() {
    abandoned = true;
    residents.clear();
    notifyAll();
  }

  @Override
  public synchronized void close() {
    for (Resident resident : residents.values()) {
      if (resident.users != 0) {
        throw new AssertionError(resident.view + " is in use");
      }
      resident.free();
    }
    residents.clear();
  }

  private final class Resident implements ResidentSegment {
    private final SegmentView view;
    private final Choice choice;
    private final List<Long> addresses = new ArrayList<>();
    private long descriptor;
    private ResidentRows rows;
    private ResidentBits bits;
    private int users;

    Resident(SegmentView view, Choice choice) {
      this.view = view;
      this.choice = choice;
      try (Arena arena = Arena.ofShared()) {
        upload(arena);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (RuntimeException e) {
        addresses.forEach(driver::free);
        throw e;
      }
    }

    private void upload(Arena arena) throws IOException {
      boolean bytes = view.encoding() == VectorEncoding.BYTE;
      boolean fetched = choice.placement == Placement.HOST_FETCH;
      boolean codes = fetched || choice.placement == Placement.IN_MEMORY;
      int stride = StoredAdjacency.stride(view.maxDegree());
      int rowBytes = up16(view.dimension() * (bytes ? 1 : Float.BYTES));
      MemorySegment block = arena.allocate(SegmentLayout.BYTES, Long.BYTES);
      set(block, SegmentLayout.GRAPH, fetched ? 0 : send(graph(arena, stride)));
      long vectors = codes && choice.raw == false ? 0 : send(vectors(arena, rowBytes));
      set(block, SegmentLayout.VECTORS, codes ? 0 : vectors);
      set(block, SegmentLayout.RAW, vectors);
      rows = vectors == 0 ? null : new ResidentRows(vectors, rowBytes, true);
      setInt(block, SegmentLayout.SIZE, view.size());
      setInt(block, SegmentLayout.DIMENSION, view.dimension());
      setInt(block, SegmentLayout.GRAPH_STRIDE, stride);
      setInt(block, SegmentLayout.MEDOID, view.medoid());
      setInt(block, SegmentLayout.VECTOR_STRIDE, rowBytes);
      setInt(block, SegmentLayout.RAW_STRIDE, rowBytes);
      setInt(block, SegmentLayout.SIMILARITY, view.similarity().ordinal());
      int format = bytes ? SegmentLayout.FORMAT_BYTE : SegmentLayout.FORMAT_FLOAT32;
      setInt(block, SegmentLayout.VECTOR_FORMAT, format);
      setInt(block, SegmentLayout.RAW_FORMAT, format);
      setInt(block, SegmentLayout.BYTE_SCORING, bytes ? 1 : 0);
      if (codes) {
        Codebook codebook = view.codebook();
        int subspaces = codebook.layout().count();
        setInt(block, SegmentLayout.SUBSPACES, subspaces);
        setInt(block, SegmentLayout.CODE_STRIDE, up16(subspaces));
        set(block, SegmentLayout.CODES, send(codes(arena, subspaces)));
        set(block, SegmentLayout.COLUMNS, send(columns(arena, codebook)));
        set(block, SegmentLayout.CENTROID_NORMS, send(norms(arena, codebook)));
      }
      long bitBytes = (view.size() + 63) / 64 * 8L;
      bits = new ResidentBits(send(arena.allocate(2 * bitBytes, ALIGNMENT)), bitBytes);
      descriptor = send(block);
    }

    private MemorySegment graph(Arena arena, int stride) throws IOException {
      Adjacency adjacency = view.adjacency();
      MemorySegment rows = arena.allocate((long) view.size() * stride * Integer.BYTES, ALIGNMENT);
      rows.fill((byte) -1);
      int[] row = new int[Math.max(stride, adjacency.maxDegree())];
      for (int node = 0; node < view.size(); node++) {
        int degree = adjacency.neighbors(node, row);
        MemorySegment.copy(
            row, 0, rows, ValueLayout.JAVA_INT, (long) node * stride * Integer.BYTES, degree);
      }
      return rows;
    }

    private MemorySegment vectors(Arena arena, int rowBytes) throws IOException {
      MemorySegment rows = arena.allocate((long) view.size() * rowBytes, ALIGNMENT);
      KnnVectorValues values = view.vectors();
      for (int node = 0; node < view.size(); node++) {
        long at = (long) node * rowBytes;
        if (values instanceof FloatVectorValues floats) {
          float[] vector = floats.vectorValue(node);
          MemorySegment.copy(vector, 0, rows, ValueLayout.JAVA_FLOAT, at, vector.length);
        } else {
          byte[] vector = ((ByteVectorValues) values).vectorValue(node);
          MemorySegment.copy(vector, 0, rows, ValueLayout.JAVA_BYTE, at, vector.length);
        }
      }
      return rows;
    }

    private MemorySegment codes(Arena arena, int subspaces) throws IOException {
      MemorySegment rows = arena.allocate((long) view.size() * up16(subspaces), ALIGNMENT);
      IndexInput in = view.codesRegion().open();
      byte[] code = new byte[subspaces];
      for (int node = 0; node < view.size(); node++) {
        in.readBytes(code, 0, subspaces);
        MemorySegment.copy(
            code, 0, rows, ValueLayout.JAVA_BYTE, (long) node * up16(subspaces), subspaces);
      }
      return rows;
    }

    private MemorySegment columns(Arena arena, Codebook codebook) {
      float[] columns = new float[Limits.CENTROIDS * view.dimension()];
      for (int c = 0; c < Limits.CENTROIDS; c++) {
        byte[] code = new byte[codebook.layout().count()];
        Arrays.fill(code, (byte) c);
        float[] centroid = new float[view.dimension()];
        codebook.decode(code, 0, centroid);
        for (int d = 0; d < centroid.length; d++) {
          columns[d * Limits.CENTROIDS + c] = centroid[d];
        }
      }
      return arena.allocateFrom(ValueLayout.JAVA_FLOAT, columns);
    }

    private MemorySegment norms(Arena arena, Codebook codebook) {
      SubspaceLayout layout = codebook.layout();
      float[] norms = new float[layout.count()];
      for (int c = 0; c < Limits.CENTROIDS; c++) {
        byte[] code = new byte[layout.count()];
        Arrays.fill(code, (byte) c);
        float[] centroid = new float[view.dimension()];
        codebook.decode(code, 0, centroid);
        for (int s = 0; s < norms.length; s++) {
          double sum = 0;
          for (int d = layout.offset(s); d < layout.offset(s) + layout.length(s); d++) {
            sum += centroid[d] * centroid[d];
          }
          norms[s] = Math.max(norms[s], (float) Math.sqrt(sum));
        }
      }
      return arena.allocateFrom(ValueLayout.JAVA_FLOAT, norms);
    }

    private long send(MemorySegment bytes) {
      long address = driver.allocate(bytes.byteSize());
      addresses.add(address);
      long stream = driver.createStream();
      try {
        driver.copyToDevice(address, bytes, stream);
        driver.synchronize(stream);
      } finally {
        driver.destroyStream(stream);
      }
      return address;
    }

    void free() {
      addresses.forEach(driver::free);
    }

    @Override
    public SegmentView view() {
      return view;
    }

    @Override
    public Placement placement() {
      return choice.placement;
    }

    @Override
    public long descriptor() {
      return descriptor;
    }

    @Override
    public boolean wholeCopies() {
      return false;
    }

    @Override
    public boolean reranksOnDevice() {
      return choice.placement == Placement.EXACT || choice.raw;
    }

    @Override
    public ResidentBits bits() {
      return bits;
    }

    @Override
    public ResidentRows rows() {
      return rows;
    }

    @Override
    public void hold() {
      synchronized (TestResidency.this) {
        users++;
      }
    }

    @Override
    public void release() {
      synchronized (TestResidency.this) {
        if (--users < 0) {
          throw new AssertionError("released too often");
        }
        TestResidency.this.notifyAll();
      }
    }
  }

  private static int up16(int value) {
    return (value + 15) & ~15;
  }

  private static void set(MemorySegment block, long offset, long value) {
    block.set(ValueLayout.JAVA_LONG, offset, value);
  }

  private static void setInt(MemorySegment block, long offset, int value) {
    block.set(ValueLayout.JAVA_INT, offset, value);
  }
}
