package dev.vamana.codec;

import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.tests.index.BaseKnnVectorsFormatTestCase;
import org.apache.lucene.tests.util.TestUtil;

/** Lucene's conformance test at the format's default parameters. */
public class VamanaVectorsFormatTests extends BaseKnnVectorsFormatTestCase {

  /** The format under test. */
  protected KnnVectorsFormat format() {
    return new VamanaVectorsFormat();
  }

  @Override
  protected Codec getCodec() {
    return TestUtil.alwaysKnnVectorsFormat(format());
  }

  @Override
  protected boolean supportsFloatVectorFallback() {
    return false;
  }
}
