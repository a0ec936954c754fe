package dev.vamana.codec;

import dev.vamana.tools.index.VectorCodec;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KnnByteVectorField;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.util.InfoStream;

/** Small indexes, vectors and views that the tests of this package share. */
final class Segments {

  static final String FLOATS = "floats";
  static final String BYTES = "bytes";
  static final String ID = "id";

  /** Graphs and codes in every segment, quick to build. */
  static final VamanaParameters SMALL =
      VamanaParameters.DEFAULT.withGraph(16, 48, 1.2f).withSubspaces(4).withThresholds(0, 0);

  private Segments() {}

  static KnnVectorsFormat format(VamanaParameters parameters) {
    return new VamanaVectorsFormat(parameters, Workers.callingThread());
  }

  /** One segment a commit, no merges but forced ones, no compound files. */
  static IndexWriterConfig config(KnnVectorsFormat vectors) {
    IndexWriterConfig config = new IndexWriterConfig();
    config.setCodec(new VectorCodec(vectors));
    config.setMergePolicy(NoMergePolicy.INSTANCE);
    config.setMergeScheduler(new SerialMergeScheduler());
    config.setUseCompoundFile(false);
    config.setRAMBufferSizeMB(256);
    return config;
  }

  static IndexWriterConfig config(VamanaParameters parameters) {
    return config(format(parameters));
  }

  /** A document of a float vector. */
  static Document document(int id, float[] vector, VectorSimilarityFunction similarity) {
    Document document = new Document();
    document.add(new StringField(ID, Integer.toString(id), Field.Store.YES));
    if (vector != null) {
      document.add(new KnnFloatVectorField(FLOATS, vector, similarity));
    }
    return document;
  }

  /** A document of a float vector and the same as bytes. */
  static Document document(int id, float[] vector) {
    Document document = document(id, vector, VectorSimilarityFunction.EUCLIDEAN);
    document.add(new KnnByteVectorField(BYTES, bytes(vector), VectorSimilarityFunction.EUCLIDEAN));
    return document;
  }

  static byte[] bytes(float[] vector) {
    byte[] bytes = new byte[vector.length];
    for (int d = 0; d < bytes.length; d++) {
      bytes[d] = (byte) Math.max(-128, Math.min(127, Math.round(vector[d] * 20)));
    }
    // COSINE knows no zero vector
    bytes[0] = bytes[0] == 0 ? 1 : bytes[0];
    return bytes;
  }

  /** Vectors around cluster centres, as most real sets are, all components finite. */
  static float[][] clustered(Random random, int count, int dimension) {
    float[][] centres = new float[Math.max(1, count / 50)][dimension];
    for (float[] centre : centres) {
      for (int d = 0; d < dimension; d++) {
        centre[d] = (float) random.nextGaussian();
      }
    }
    float[][] vectors = new float[count][dimension];
    for (float[] vector : vectors) {
      float[] centre = centres[random.nextInt(centres.length)];
      for (int d = 0; d < dimension; d++) {
        vector[d] = centre[d] + (float) random.nextGaussian();
      }
    }
    return vectors;
  }

  /** The field as this package's reader sees it, or null if another format's reader serves it. */
  static SegmentField field(LeafReader leaf, String name) {
    CodecReader reader = (CodecReader) FilterLeafReader.unwrap(leaf);
    KnnVectorsReader fields = reader.getVectorReader();
    return ((PerFieldKnnVectorsFormat.FieldsReader) fields).getFieldReader(name)
            instanceof VamanaVectorsReader vamana
        ? vamana.view(name)
        : null;
  }

  /** Copies all files, one of them with other content. */
  static void copy(Directory from, Directory to, String replaced, byte[] content)
      throws IOException {
    for (String file : from.listAll()) {
      if (file.equals(replaced) || file.equals("write.lock")) {
        continue;
      }
      to.copyFrom(from, file, file, IOContext.DEFAULT);
    }
    try (IndexOutput out = to.createOutput(replaced, IOContext.DEFAULT)) {
      out.writeBytes(content, content.length);
    }
  }

  static byte[] content(Directory directory, String file) throws IOException {
    try (IndexInput in = directory.openInput(file, IOContext.READONCE)) {
      byte[] content = new byte[Math.toIntExact(in.length())];
      in.readBytes(content, 0, content.length);
      return content;
    }
  }

  /** The files of this format, raw vectors included. */
  static List<String> files(Directory directory) throws IOException {
    List<String> files = new ArrayList<>();
    for (String file : directory.listAll()) {
      if (file.endsWith(".vec")
          || file.endsWith(".vemf")
          || file.endsWith(".vex")
          || file.endsWith(".veq")
          || file.endsWith(".vem")) {
        files.add(file);
      }
    }
    return files;
  }

  /** Keeps the lines that this format writes. */
  static final class Messages extends InfoStream {
    private final List<String> lines = new ArrayList<>();

    @Override
    public synchronized void message(String component, String message) {
      lines.add(message);
    }

    @Override
    public boolean isEnabled(String component) {
      return component.equals(VamanaVectorsFormat.INFO_COMPONENT);
    }

    /** The lines since the last call. */
    synchronized List<String> take() {
      List<String> taken = List.copyOf(lines);
      lines.clear();
      return taken;
    }

    @Override
    public void close() {}
  }
}
