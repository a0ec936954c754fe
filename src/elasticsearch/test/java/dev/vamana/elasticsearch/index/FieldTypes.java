package dev.vamana.elasticsearch.index;

import java.util.HashMap;
import java.util.Map;
import org.elasticsearch.index.IndexVersion;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.DenseVectorFieldType;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.DenseVectorIndexOptions;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.ElementType;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.VectorIndexType;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.VectorSimilarity;

/** Makes the field types that a mapping would have. */
final class FieldTypes {
  private FieldTypes() {}

  /** A {@code dense_vector} of 64 dimensions; a null index type stands for absent options. */
  static DenseVectorFieldType denseVector(String name, ElementType element, VectorIndexType type) {
    DenseVectorIndexOptions options =
        type == null
            ? null
            : type.parseIndexOptions(name, new HashMap<>(), IndexVersion.current(), false);
    return new DenseVectorFieldType(
        name,
        IndexVersion.current(),
        element,
        64,
        true,
        VectorSimilarity.L2_NORM,
        options,
        Map.of(),
        false);
  }
}
