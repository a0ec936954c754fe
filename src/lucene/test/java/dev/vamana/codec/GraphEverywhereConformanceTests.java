package dev.vamana.codec;

import dev.vamana.work.Workers;
import org.apache.lucene.codecs.KnnVectorsFormat;

/** Lucene's conformance test with a graph in every segment, however small. */
public class GraphEverywhereConformanceTests extends VamanaVectorsFormatTests {

  @Override
  protected KnnVectorsFormat format() {
    return new VamanaVectorsFormat(
        VamanaParameters.DEFAULT.withThresholds(0, VamanaParameters.DEFAULT_QUANTIZATION_THRESHOLD),
        Workers.callingThread());
  }
}
