package dev.vamana.elasticsearch.index;

import dev.vamana.codec.VamanaVectorsFormat;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.elasticsearch.index.mapper.MappedFieldType;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.DenseVectorFieldType;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.DenseVectorIndexOptions;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.ElementType;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.VectorIndexType;

/**
 * Chooses for each field of an index whether its vectors are written in this plugin's format or the
 * stock one. Reads the mapping when the field is written.
 */
final class VectorFieldFormats {
  private static final Set<VectorIndexType> GRAPH_TYPES =
      Set.of(
          VectorIndexType.HNSW,
          VectorIndexType.INT8_HNSW,
          VectorIndexType.INT4_HNSW,
          VectorIndexType.BBQ_HNSW);

  private final Function<String, MappedFieldType> mapping;
  private final VamanaVectorsFormat format;
  private final StockFieldLog log;

  private VectorFieldFormats(
      Function<String, MappedFieldType> mapping, VamanaVectorsFormat format, StockFieldLog log) {
    this.mapping = mapping;
    this.format = format;
    this.log = log;
  }

  /**
   * Makes a choice of this plugin's format for every field that can use it.
   *
   * @param mapping returns the current type of a field, or null
   */
  static VectorFieldFormats vamana(
      Function<String, MappedFieldType> mapping, VamanaVectorsFormat format, StockFieldLog log) {
    return new VectorFieldFormats(mapping, format, log);
  }

  /** Makes a choice of the stock format for all fields. */
  static VectorFieldFormats stock() {
    return new VectorFieldFormats(null, null, null);
  }

  /**
   * Returns this plugin's format for a field, or empty for the stock one. All fields get the same
   * instance, so that Lucene writes them to the same files.
   */
  Optional<VamanaVectorsFormat> vamanaFormat(String field) {
    if (format == null || !(mapping.apply(field) instanceof DenseVectorFieldType type)) {
      return Optional.empty();
    }
    Optional<String> reason = reasonForStock(type);
    reason.ifPresent(text -> log.fieldKeepsStockFormat(field, text));
    return reason.isPresent() ? Optional.empty() : Optional.of(format);
  }

  /** The reason why a field of an opted-in index keeps the stock format, or empty. */
  static Optional<String> reasonForStock(DenseVectorFieldType type) {
    if (type.getElementType() == ElementType.BIT) {
      // to Lucene these are bytes with Euclidean distance; only the mapping tells them apart
      return Optional.of("element_type [bit] is scored by Hamming distance");
    }
    DenseVectorIndexOptions options = type.getIndexOptions();
    // an indexed field without options is HNSW
    if (options == null || GRAPH_TYPES.contains(options.getType())) {
      return Optional.empty();
    }
    return Optional.of("index_options type [" + options.getType().getName() + "] has no graph");
  }
}
