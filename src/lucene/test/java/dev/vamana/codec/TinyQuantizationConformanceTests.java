package dev.vamana.codec;

import dev.vamana.work.Workers;
import org.apache.lucene.codecs.KnnVectorsFormat;

/** Lucene's conformance test with a small graph and one-byte codes in every segment. */
public class TinyQuantizationConformanceTests extends VamanaVectorsFormatTests {

  @Override
  protected KnnVectorsFormat format() {
    return new VamanaVectorsFormat(
        VamanaParameters.DEFAULT.withGraph(4, 8, 1.0f).withSubspaces(1).withThresholds(0, 0),
        Workers.callingThread());
  }
}
