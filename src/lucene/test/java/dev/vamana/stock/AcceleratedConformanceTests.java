package dev.vamana.stock;

import dev.vamana.search.CpuExecutor;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.work.Workers;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.tests.index.BaseKnnVectorsFormatTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.junit.After;
import org.junit.Before;

/** Lucene's conformance test for accelerated searches of its HNSW format. */
public class AcceleratedConformanceTests extends BaseKnnVectorsFormatTestCase {

  private ExecutorRegistry.Installation executor;

  /** The format under test. */
  protected AcceleratedFormat format() {
    return new AcceleratedFormat.Plain();
  }

  @Before
  public void installExecutor() {
    executor = ExecutorRegistry.install(() -> new CpuExecutor(Workers.callingThread()));
  }

  @After
  public void closeExecutor() throws Exception {
    executor.close();
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
