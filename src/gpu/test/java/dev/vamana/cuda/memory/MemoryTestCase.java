package dev.vamana.cuda.memory;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.KernelTestCase;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import dev.vamana.vectors.FileRegion;
import dev.vamana.work.Workers;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnByteVectorField;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.store.NIOFSDirectory;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.IOUtils;
import org.junit.AfterClass;
import org.junit.BeforeClass;

/** Base class with real indexes and a simulated device. */
public abstract class MemoryTestCase extends KernelTestCase {

  static final String FLOATS = "floats";
  static final String BYTES = "bytes";

  static final long MEGABYTE = 1 << 20;

  /** The kernels, run by the CPU. */
  static SimtKernels kernels;

  @BeforeClass
  public static void loadKernels() {
    kernels = SimtKernels.load();
  }

  @AfterClass
  public static void forgetKernels() {
    kernels = null;
  }

  /** Graphs and codes in all segments. */
  static VamanaParameters parameters(int maxDegree, int subspaces) {
    return VamanaParameters.DEFAULT
        .withGraph(maxDegree, maxDegree * 2, 1.2f)
        .withSubspaces(subspaces)
        .withThresholds(0, 0);
  }

  /** Some segments of float and of byte vectors, open. */
  static final class TestSegments implements Closeable {
    private final Directory directory;
    private final boolean ownsDirectory;
    private final DirectoryReader reader;
    final int dimension;

    /**
     * Makes and opens an index.
     *
     * @param mapped whether files are mapped
     * @param compound whether all files of a segment are one
     * @param sizes vectors of each segment
     */
    TestSegments(
        boolean mapped,
        boolean compound,
        VamanaParameters parameters,
        VectorSimilarityFunction similarity,
        int dimension,
        int... sizes)
        throws IOException {
      this.dimension = dimension;
      var path = createTempDir();
      directory = mapped ? new MMapDirectory(path) : new NIOFSDirectory(path);
      ownsDirectory = true;
      IndexWriterConfig config =
          new IndexWriterConfig()
              .setCodec(
                  TestUtil.alwaysKnnVectorsFormat(
                      new VamanaVectorsFormat(parameters, Workers.callingThread())))
              .setMergePolicy(NoMergePolicy.INSTANCE)
              .setUseCompoundFile(compound);
      try (IndexWriter writer = new IndexWriter(directory, config)) {
        for (int size : sizes) {
          for (int i = 0; i < size; i++) {
            writer.addDocument(document(dimension, similarity));
          }
          writer.flush();
        }
        writer.commit();
      }
      reader = DirectoryReader.open(directory);
    }

    private TestSegments(TestSegments of) throws IOException {
      directory = of.directory;
      ownsDirectory = false;
      dimension = of.dimension;
      reader = DirectoryReader.open(directory);
    }

    /** The same segments, opened once more. */
    TestSegments reopen() throws IOException {
      return new TestSegments(this);
    }

    private static Document document(int dimension, VectorSimilarityFunction similarity) {
      float[] floats = new float[dimension];
      byte[] bytes = new byte[dimension];
      double norm = 0;
      for (int d = 0; d < dimension; d++) {
        floats[d] = (float) random().nextGaussian();
        bytes[d] = (byte) (random().nextInt(255) - 127);
        norm += floats[d] * floats[d];
      }
      bytes[0] = 1;
      if (similarity == VectorSimilarityFunction.DOT_PRODUCT) {
        for (int d = 0; d < dimension; d++) {
          floats[d] /= (float) Math.sqrt(norm);
        }
      }
      Document document = new Document();
      document.add(new KnnFloatVectorField(FLOATS, floats, similarity));
      document.add(new KnnByteVectorField(BYTES, bytes, similarity));
      return document;
    }

    /** One field of a segment. */
    SegmentView view(int segment, String field) {
      CodecReader leaf = (CodecReader) reader.leaves().get(segment).reader();
      KnnVectorsReader vectors = leaf.getVectorReader();
      if (vectors instanceof PerFieldKnnVectorsFormat.FieldsReader perField) {
        vectors = perField.getFieldReader(field);
      }
      return ((SegmentViews) vectors).view(field);
    }

    /** The field of all segments. */
    List<SegmentView> views(String field) {
      List<SegmentView> views = new ArrayList<>();
      for (LeafReaderContext leaf : reader.leaves()) {
        views.add(view(leaf.ord, field));
      }
      return views;
    }

    @Override
    public void close() throws IOException {
      IOUtils.close(reader, ownsDirectory ? directory : null);
    }
  }

  /** Runs what it is given when told to. */
  static final class ManualExecutor implements Executor {
    private final Queue<Runnable> tasks = new ArrayDeque<>();

    @Override
    public void execute(Runnable task) {
      tasks.add(task);
    }

    /** Runs all that is waiting, and what that brings. */
    void runAll() {
      for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
        task.run();
      }
    }
  }

  static VectorSimilarityFunction randomSimilarity() {
    return VectorSimilarityFunction.values()[random().nextInt(4)];
  }

  static byte[] bytes(FileRegion region) throws IOException {
    byte[] bytes = new byte[Math.toIntExact(region.length())];
    IndexInput in = region.open();
    in.readBytes(bytes, 0, bytes.length);
    return bytes;
  }

  /** Bytes of device memory; the calling thread is bound. */
  static byte[] device(SimulatedDriver driver, long address, long length) {
    long stream = driver.createStream();
    try (Arena arena = Arena.ofShared()) {
      MemorySegment target = arena.allocate(length, 16);
      driver.copyFromDevice(target, address, stream);
      driver.synchronize(stream);
      return target.toArray(ValueLayout.JAVA_BYTE);
    } finally {
      driver.destroyStream(stream);
    }
  }

  /** The first bytes of each row, one after the other. */
  static byte[] rows(byte[] padded, int stride, int width) {
    int count = padded.length / stride;
    byte[] dense = new byte[count * width];
    for (int row = 0; row < count; row++) {
      System.arraycopy(padded, row * stride, dense, row * width, width);
      for (int i = width; i < stride; i++) {
        assertEquals("padding of row " + row, 0, padded[row * stride + i]);
      }
    }
    return dense;
  }

  /** A shape as auto placement sees most segments. */
  static SegmentShape shape(int size, int dimension, VectorEncoding encoding) {
    return new SegmentShape(
        size, dimension, encoding, 64, dimension / 4, true, true, true, null, 0);
  }

  /** A counter or current value; 0 if it is missing. */
  static long counter(Residency residency, String name) {
    return residency.counters().getOrDefault(name, 0L);
  }

  /** The sum of all whose names begin so. */
  static long sum(Residency residency, String prefix) {
    return residency.counters().entrySet().stream()
        .filter(entry -> entry.getKey().startsWith(prefix))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }
}
