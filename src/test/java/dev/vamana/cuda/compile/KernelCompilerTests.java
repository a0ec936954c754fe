package dev.vamana.cuda.compile;

import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests what the compiler's log counts for. */
public class KernelCompilerTests extends LuceneTestCase {

  private static final String RESOURCES =
      "ptxas info    : Used 113 registers, used 0 barriers, 496 bytes cmem[0]\n";
  private static final String BLOCKS =
      "ptxas warning : Value of minnctapersm for entry build_merge_w1 is out of range."
          + " minnctapersm will be ignored\n";
  private static final String UNUSED =
      "walk.cu(12): warning #177-D: variable \"x\" was declared but never referenced\n";

  /** Turing holds 16 blocks on a multiprocessor where later architectures hold 32. */
  public void testMoreBlocksThanADeviceHoldsAreNoWarning() {
    assertFalse(KernelCompiler.hasWarning(""));
    assertFalse(KernelCompiler.hasWarning(RESOURCES + BLOCKS + RESOURCES + BLOCKS));
  }

  public void testWarnings() {
    assertTrue(KernelCompiler.hasWarning(UNUSED));
    assertTrue(KernelCompiler.hasWarning(BLOCKS + RESOURCES + UNUSED));
    assertTrue(
        KernelCompiler.hasWarning(
            "ptxas warning : Value of maxntid for entry build_merge_w1 is out of range\n"));
  }
}
