package dev.vamana.codec;

import dev.vamana.search.SegmentView;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Facts about one vector field of a segment in this format, for statistics. Cheap: reads nothing
 * from the files beyond what opening the segment has read.
 *
 * @param field name of the field
 * @param vectors number of vectors, including vectors of deleted documents
 * @param dimension components of a vector
 * @param encoding type of the components
 * @param similarity the field's similarity
 * @param maxDegree max degree of the graph, 0 without a graph
 * @param vectorBytes bytes of the raw vectors in the file
 * @param graphBytes bytes of the graph in the file, 0 without a graph
 * @param codeBytes bytes of the codes, or of the inverted lists, in the file; 0 without both
 * @param codebookBytes bytes of the codebook in the file, 0 without codes
 * @param codebook name of the shared codebook that made the codes; empty if the segment trained its
 *     own, null without codes
 * @param codebookVersion version of the codebook, 1 or more; 0 without codes
 * @param view the field's view; executors key their data by this instance, which is valid while the
 *     reader is open
 */
public record SegmentFacts(
    String field,
    int vectors,
    int dimension,
    VectorEncoding encoding,
    VectorSimilarityFunction similarity,
    int maxDegree,
    long vectorBytes,
    long graphBytes,
    long codeBytes,
    long codebookBytes,
    String codebook,
    int codebookVersion,
    SegmentView view) {

  /**
   * Lists the segment's fields in this format, in the order of the segment's field infos.
   *
   * @param segment an open segment, such as Lucene's SegmentReader
   */
  public static List<SegmentFacts> of(CodecReader segment) {
    List<SegmentFacts> facts = new ArrayList<>();
    for (FieldInfo info : segment.getFieldInfos()) {
      SegmentField field =
          info.hasVectorValues()
              ? MergeSources.segmentField(segment.getVectorReader(), info.name)
              : null;
      if (field != null) {
        facts.add(of(info.name, field));
      }
    }
    return facts;
  }

  private static SegmentFacts of(String name, SegmentField field) {
    FieldMetadata metadata = field.metadata();
    FieldMetadata.GraphMetadata graph = metadata.graph();
    FieldMetadata.QuantizationMetadata codes = metadata.quantization();
    ListMetadata lists = metadata.lists();
    return new SegmentFacts(
        name,
        metadata.size(),
        metadata.dimension(),
        metadata.encoding(),
        metadata.similarity(),
        field.maxDegree(),
        (long) metadata.size() * metadata.dimension() * metadata.encoding().byteSize,
        graph == null ? 0 : graph.length(),
        codes == null ? (lists == null ? 0 : lists.length()) : codes.codesLength(),
        codes == null ? 0 : codes.codebookLength(),
        codes == null ? null : codes.codebookId().name(),
        codes == null ? 0 : codes.codebookId().version(),
        field);
  }
}
