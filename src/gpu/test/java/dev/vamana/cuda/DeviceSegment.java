package dev.vamana.cuda;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import dev.vamana.tools.index.VectorCodec;
import dev.vamana.work.Workers;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
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
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.VectorUtil;

/**
 * A segment of vectors with a graph, in mapped files.
 *
 * @param vectors vectors by ordinal
 * @param directory maps the files
 * @param reader open on them
 */
record DeviceSegment(List<QueryVector> vectors, MMapDirectory directory, DirectoryReader reader)
    implements Closeable {

  static final String FIELD = "vector";
  static final String ID = "id";

  /**
   * Writes and opens a segment; the graph threshold is 0 and, if wanted, so is the threshold of
   * codes.
   */
  static DeviceSegment of(
      Path folder,
      List<QueryVector> vectors,
      VectorSimilarityFunction similarity,
      VamanaParameters parameters,
      Workers workers)
      throws IOException {
    MMapDirectory directory = new MMapDirectory(folder);
    try (IndexWriter writer =
        new IndexWriter(directory, config(new VamanaVectorsFormat(parameters, workers)))) {
      for (int id = 0; id < vectors.size(); id++) {
        writer.addDocument(document(id, vectors.get(id), similarity));
      }
    }
    return new DeviceSegment(vectors, directory, DirectoryReader.open(directory));
  }

  static IndexWriterConfig config(KnnVectorsFormat format) {
    return new IndexWriterConfig()
        .setCodec(new VectorCodec(format))
        .setMergePolicy(NoMergePolicy.INSTANCE)
        .setMergeScheduler(new SerialMergeScheduler())
        .setRAMBufferSizeMB(1_000)
        .setUseCompoundFile(false);
  }

  static Document document(int id, QueryVector vector, VectorSimilarityFunction similarity) {
    Document document = new Document();
    document.add(new StringField(ID, Integer.toString(id), Field.Store.YES));
    document.add(
        vector.encoding() == VectorEncoding.FLOAT32
            ? new KnnFloatVectorField(FIELD, vector.floats(), similarity)
            : new KnnByteVectorField(FIELD, vector.bytes(), similarity));
    return document;
  }

  SegmentView view() {
    return view(reader.leaves().get(0).reader());
  }

  static SegmentView view(LeafReader leaf) {
    KnnVectorsReader vectors = ((CodecReader) leaf).getVectorReader();
    if (vectors instanceof PerFieldKnnVectorsFormat.FieldsReader perField) {
      vectors = perField.getFieldReader(FIELD);
    }
    return ((SegmentViews) vectors).view(FIELD);
  }

  /** Vectors around centres; unit length for the similarity that wants it. */
  static List<QueryVector> clustered(
      Random random,
      int count,
      int dimension,
      VectorEncoding encoding,
      VectorSimilarityFunction similarity) {
    float[][] centres = new float[Math.max(1, count / 40)][dimension];
    for (float[] centre : centres) {
      for (int d = 0; d < dimension; d++) {
        centre[d] = (float) random.nextGaussian();
      }
    }
    QueryVector[] vectors = new QueryVector[count];
    for (int i = 0; i < count; i++) {
      float[] vector = centres[random.nextInt(centres.length)].clone();
      for (int d = 0; d < dimension; d++) {
        vector[d] += (float) random.nextGaussian();
      }
      if (encoding == VectorEncoding.BYTE) {
        vectors[i] = QueryVector.of(bytes(vector));
      } else {
        if (similarity == VectorSimilarityFunction.DOT_PRODUCT) {
          VectorUtil.l2normalize(vector);
        }
        vectors[i] = QueryVector.of(vector);
      }
    }
    return List.of(vectors);
  }

  private static byte[] bytes(float[] vector) {
    byte[] bytes = new byte[vector.length];
    for (int d = 0; d < bytes.length; d++) {
      bytes[d] = (byte) Math.max(-128, Math.min(127, Math.round(vector[d] * 30)));
    }
    // COSINE knows no zero vector
    bytes[0] = bytes[0] == 0 ? 1 : bytes[0];
    return bytes;
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(reader, directory);
  }
}
