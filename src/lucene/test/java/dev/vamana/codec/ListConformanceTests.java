package dev.vamana.codec;

import dev.vamana.ivf.CodeKind;
import dev.vamana.work.Workers;
import org.apache.lucene.codecs.KnnVectorsFormat;

/** Lucene's conformance test with inverted lists in every segment, however small. */
public class ListConformanceTests extends VamanaVectorsFormatTests {

  @Override
  protected KnnVectorsFormat format() {
    CodeKind kind = CodeKind.values()[random().nextInt(CodeKind.values().length)];
    return new VamanaVectorsFormat(
        VamanaParameters.DEFAULT.withThresholds(0, 0).withType(IndexType.IVF, kind),
        Workers.callingThread());
  }
}
