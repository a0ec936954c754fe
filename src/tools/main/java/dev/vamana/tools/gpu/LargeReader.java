package dev.vamana.tools.gpu;

import java.io.IOException;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.lucene.codecs.DocValuesProducer;
import org.apache.lucene.codecs.FieldsProducer;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.NormsProducer;
import org.apache.lucene.codecs.PointsReader;
import org.apache.lucene.codecs.StoredFieldsReader;
import org.apache.lucene.codecs.TermVectorsReader;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DocValuesSkipIndexType;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.LeafMetaData;
import org.apache.lucene.index.StoredFieldVisitor;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.Version;

/**
 * A segment of documents that have one vector of bytes each and nothing else. {@code
 * IndexWriter.addIndexes} merges it, so that an index of it is written by one merge, and no
 * document is ever in memory.
 */
final class LargeReader extends CodecReader {

  private final Supplier<ByteVectorValues> vectors;
  private final int size;
  private final FieldInfos fields;

  /**
   * Makes a segment.
   *
   * @param vectors makes a view of the vectors
   */
  LargeReader(Supplier<ByteVectorValues> vectors, VectorSimilarityFunction similarity) {
    ByteVectorValues values = vectors.get();
    this.vectors = vectors;
    this.size = values.size();
    this.fields =
        new FieldInfos(
            new FieldInfo[] {
              new FieldInfo(
                  SetIndex.FIELD,
                  0,
                  false,
                  false,
                  false,
                  IndexOptions.NONE,
                  DocValuesType.NONE,
                  DocValuesSkipIndexType.NONE,
                  -1,
                  Map.of(),
                  0,
                  0,
                  0,
                  values.dimension(),
                  VectorEncoding.BYTE,
                  similarity,
                  false,
                  false)
            });
  }

  @Override
  public FieldInfos getFieldInfos() {
    return fields;
  }

  @Override
  public int maxDoc() {
    return size;
  }

  @Override
  public int numDocs() {
    return size;
  }

  @Override
  public Bits getLiveDocs() {
    return null;
  }

  @Override
  public LeafMetaData getMetaData() {
    return new LeafMetaData(Version.LATEST.major, Version.LATEST, null, false);
  }

  @Override
  public KnnVectorsReader getVectorReader() {
    return new Vectors();
  }

  @Override
  public StoredFieldsReader getFieldsReader() {
    return new NoFields();
  }

  @Override
  public TermVectorsReader getTermVectorsReader() {
    return null;
  }

  @Override
  public NormsProducer getNormsReader() {
    return null;
  }

  @Override
  public DocValuesProducer getDocValuesReader() {
    return null;
  }

  @Override
  public FieldsProducer getPostingsReader() {
    return null;
  }

  @Override
  public PointsReader getPointsReader() {
    return null;
  }

  @Override
  public CacheHelper getCoreCacheHelper() {
    return null;
  }

  @Override
  public CacheHelper getReaderCacheHelper() {
    return null;
  }

  private final class Vectors extends KnnVectorsReader {
    @Override
    public void checkIntegrity() {}

    @Override
    public FloatVectorValues getFloatVectorValues(String field) {
      throw new UnsupportedOperationException("vectors of bytes");
    }

    @Override
    public ByteVectorValues getByteVectorValues(String field) {
      return vectors.get();
    }

    @Override
    public void search(String field, float[] target, KnnCollector collector, AcceptDocs accepted) {
      throw new UnsupportedOperationException("only merged");
    }

    @Override
    public void search(String field, byte[] target, KnnCollector collector, AcceptDocs accepted) {
      throw new UnsupportedOperationException("only merged");
    }

    @Override
    public Map<String, Long> getOffHeapByteSize(FieldInfo field) {
      return Map.of();
    }

    @Override
    public void close() {}
  }

  /** Documents without stored fields. */
  private static final class NoFields extends StoredFieldsReader {
    @Override
    public void document(int document, StoredFieldVisitor visitor) {}

    @Override
    public StoredFieldsReader clone() {
      return this;
    }

    @Override
    public void checkIntegrity() {}

    @Override
    public void close() throws IOException {}
  }
}
