package dev.vamana.stock;

import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentSearch;
import dev.vamana.search.SegmentView;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.KnnVectorsWriter;
import org.apache.lucene.codecs.hnsw.HnswGraphProvider;
import org.apache.lucene.codecs.lucene104.Lucene104HnswScalarQuantizedVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.SegmentReadState;
import org.apache.lucene.index.SegmentWriteState;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.util.hnsw.HnswGraph;
import org.apache.lucene.util.quantization.QuantizedByteVectorValues;

/**
 * One of Lucene's formats whose readers offer searches to the executor, as wrapped readers do, so
 * that Lucene's conformance tests reach accelerated searches.
 */
public abstract class AcceleratedFormat extends KnnVectorsFormat {

  private final KnnVectorsFormat in;

  private AcceleratedFormat(String name, KnnVectorsFormat in) {
    super(name);
    this.in = in;
  }

  /** Raw vectors in the graph's order. Graphs from the first vector on, so that tests walk. */
  public static final class Plain extends AcceleratedFormat {
    public Plain() {
      super("AcceleratedPlain", new Lucene99HnswVectorsFormat(16, 100, 1, null, 0));
    }
  }

  /** Vectors whose components have seven bits in the graph's order. */
  public static final class Quantized extends AcceleratedFormat {
    public Quantized() {
      super(
          "AcceleratedQuantized",
          new Lucene104HnswScalarQuantizedVectorsFormat(
              QuantizedByteVectorValues.ScalarEncoding.SEVEN_BIT, 16, 100, 1, null, 0));
    }
  }

  @Override
  public KnnVectorsWriter fieldsWriter(SegmentWriteState state) throws IOException {
    return in.fieldsWriter(state);
  }

  @Override
  public KnnVectorsReader fieldsReader(SegmentReadState state) throws IOException {
    return new Reader(in.fieldsReader(state), state);
  }

  @Override
  public int getMaxDimensions(String field) {
    return in.getMaxDimensions(field);
  }

  private static final class Reader extends KnnVectorsReader implements HnswGraphProvider {
    private final KnnVectorsReader in;
    private final Map<String, SegmentView> views = new HashMap<>();

    Reader(KnnVectorsReader in, SegmentReadState state) throws IOException {
      this.in = in;
      for (FieldInfo info : state.fieldInfos) {
        SegmentView view = info.hasVectorValues() ? view(state, info) : null;
        if (view != null) {
          views.put(info.name, view);
          ExecutorRegistry.opened(view);
        }
      }
    }

    private SegmentView view(SegmentReadState state, FieldInfo info) throws IOException {
      try {
        return StockField.open(
            state.segmentInfo.name, state.segmentInfo.dir, state.segmentInfo.maxDoc(), info, in);
      } catch (IllegalArgumentException e) {
        // the field is in another format
        return null;
      }
    }

    private void search(
        String field, QueryVector query, KnnCollector collector, AcceptDocs acceptDocs)
        throws IOException {
      SegmentSearch.FormatSearch own =
          hits -> {
            if (query.floats() != null) {
              in.search(field, query.floats(), hits, acceptDocs);
            } else {
              in.search(field, query.bytes(), hits, acceptDocs);
            }
          };
      SegmentView view = views.get(field);
      if (view == null) {
        own.run(collector);
      } else {
        SegmentSearch.search(view, query, collector, acceptDocs, own);
      }
    }

    @Override
    public void search(String field, float[] target, KnnCollector collector, AcceptDocs acceptDocs)
        throws IOException {
      search(field, QueryVector.of(target), collector, acceptDocs);
    }

    @Override
    public void search(String field, byte[] target, KnnCollector collector, AcceptDocs acceptDocs)
        throws IOException {
      search(field, QueryVector.of(target), collector, acceptDocs);
    }

    @Override
    public HnswGraph getGraph(String field) throws IOException {
      return ((HnswGraphProvider) in).getGraph(field);
    }

    @Override
    public void checkIntegrity() throws IOException {
      in.checkIntegrity();
    }

    @Override
    public FloatVectorValues getFloatVectorValues(String field) throws IOException {
      return in.getFloatVectorValues(field);
    }

    @Override
    public ByteVectorValues getByteVectorValues(String field) throws IOException {
      return in.getByteVectorValues(field);
    }

    @Override
    public KnnVectorsReader getMergeInstance() throws IOException {
      return in.getMergeInstance();
    }

    @Override
    public void finishMerge() throws IOException {
      in.finishMerge();
    }

    @Override
    public Map<String, Long> getOffHeapByteSize(FieldInfo info) {
      return in.getOffHeapByteSize(info);
    }

    @Override
    public void close() throws IOException {
      views.values().forEach(ExecutorRegistry::closing);
      in.close();
    }
  }
}
