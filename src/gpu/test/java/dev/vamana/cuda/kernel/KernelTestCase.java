package dev.vamana.cuda.kernel;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakFilters;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.QuickPatchThreadsFilter;
import org.junit.AfterClass;
import org.junit.BeforeClass;

/** Base class of tests that call the arithmetic of the kernels. */
@ThreadLeakFilters(
    defaultFilters = true,
    filters = {QuickPatchThreadsFilter.class, HostLibrary.CleanerThread.class})
public abstract class KernelTestCase extends LuceneTestCase {

  static HostLibrary library;

  @BeforeClass
  public static void loadLibrary() {
    library = HostLibrary.load();
  }

  @AfterClass
  public static void forgetLibrary() {
    library = null;
  }
}
