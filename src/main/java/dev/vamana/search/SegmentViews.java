package dev.vamana.search;

import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FilterCodecReader;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.LeafReader;

/** A vectors reader that can show its fields to executors and to the batched API. */
public interface SegmentViews {

  /** The view of a field, or null if the segment has no vectors of it. */
  SegmentView view(String field);

  /**
   * The view of a field in a segment that may be wrapped; null if the segment has no vectors of the
   * field or holds them in another format.
   */
  static SegmentView of(LeafReader reader, String field) {
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
