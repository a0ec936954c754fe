package dev.vamana.elasticsearch.index;

import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.elasticsearch.ServerClasses;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.index.mapper.KeywordFieldMapper.KeywordFieldType;
import org.elasticsearch.index.mapper.MappedFieldType;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.ElementType;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.VectorIndexType;
import org.junit.BeforeClass;

public class VectorFieldFormatsTests extends LuceneTestCase {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static final Set<String> GRAPH_TYPES =
      Set.of("hnsw", "int8_hnsw", "int4_hnsw", "bbq_hnsw");

  private final VamanaVectorsFormat format = new VamanaVectorsFormat();
  private final Map<String, MappedFieldType> mapping = new HashMap<>();
  private final VectorFieldFormats formats =
      VectorFieldFormats.vamana(mapping::get, format, new StockFieldLog("index"));

  public void testGraphTypesGetTheSameInstance() {
    for (VectorIndexType type : VectorIndexType.values()) {
      String name = type.getName();
      mapping.put(name, FieldTypes.denseVector(name, ElementType.FLOAT, type));
      Optional<VamanaVectorsFormat> expected =
          GRAPH_TYPES.contains(name) ? Optional.of(format) : Optional.empty();
      assertEquals(name, expected, formats.vamanaFormat(name));
    }
  }

  public void testFieldsWithoutOptionsAreHnsw() {
    mapping.put("f", FieldTypes.denseVector("f", ElementType.FLOAT, null));
    assertSame(format, formats.vamanaFormat("f").orElseThrow());
  }

  public void testElementTypes() {
    for (ElementType element : ElementType.values()) {
      mapping.put("f", FieldTypes.denseVector("f", element, VectorIndexType.HNSW));
      assertEquals(
          element.toString(), element != ElementType.BIT, formats.vamanaFormat("f").isPresent());
    }
  }

  public void testOtherFieldsKeepTheStockFormat() {
    mapping.put("k", new KeywordFieldType("k"));
    assertTrue(formats.vamanaFormat("k").isEmpty());
    assertTrue(formats.vamanaFormat("unmapped").isEmpty());
  }

  public void testTheMappingIsReadAgainForEachQuestion() {
    assertTrue(formats.vamanaFormat("f").isEmpty());
    mapping.put("f", FieldTypes.denseVector("f", ElementType.FLOAT, VectorIndexType.HNSW));
    assertTrue(formats.vamanaFormat("f").isPresent());
  }

  public void testStock() {
    assertTrue(VectorFieldFormats.stock().vamanaFormat("f").isEmpty());
  }
}
