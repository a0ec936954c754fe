package dev.vamana.search;

import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FilterCodecReader;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.LeafReader;

/**
 * Implemented by vectors readers, and by wrappers of readers, whose fields executors and {@link
 * BatchedKnn} can search.
 */
public interface SegmentViews {

  /** Returns the view of a field, or null if the segment has no vectors of it. */
  SegmentView view(String field);

  /**
   * Returns the view of a field in a segment whose reader may be wrapped. Returns null if the
   * segment has no vectors of the field or stores them in another format, which no wrapper lets
   * executors search.
   */
  static SegmentView of(LeafReader reader, String field) {
    for (LeafReader outer = reader;
        outer instanceof FilterLeafReader filter;
        outer = filter.getDelegate()) {
      if (outer instanceof SegmentViews views) {
        return views.view(field);
      }
    }
    if (FilterLeafReader.unwrap(reader) instanceof CodecReader codecReader) {
      KnnVectorsReader vectors = FilterCodecReader.unwrap(codecReader).getVectorReader();
      if (vectors instanceof PerFieldKnnVectorsFormat.FieldsReader perField) {
        vectors = perField.getFieldReader(field);
      }
      if (vectors instanceof SegmentViews views) {
        return views.view(field);
      }
    }
    return null;
  }
}
