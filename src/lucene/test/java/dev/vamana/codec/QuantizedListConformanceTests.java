package dev.vamana.codec;

import dev.vamana.ivf.CodeKind;
import dev.vamana.work.Workers;
import org.apache.lucene.codecs.KnnVectorsFormat;

/** Lucene's conformance test with lists of product quantization codes in every segment. */
public class QuantizedListConformanceTests extends VamanaVectorsFormatTests {

  @Override
  protected KnnVectorsFormat format() {
    return new VamanaVectorsFormat(
        VamanaParameters.DEFAULT.withThresholds(0, 0).withType(IndexType.IVF, CodeKind.PQ),
        Workers.callingThread());
  }
}
