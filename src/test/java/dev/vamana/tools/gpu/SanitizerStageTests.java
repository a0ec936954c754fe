package dev.vamana.tools.gpu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Verdicts of the stage on a tool's output. */
public class SanitizerStageTests extends LuceneTestCase {

  private static SanitizerStage.Verdict judge(int status, String... lines) throws IOException {
    Path log = createTempFile();
    Files.write(log, java.util.List.of(lines));
    return SanitizerStage.judge(status, log);
  }

  public void testNothingFound() throws IOException {
    SanitizerStage.Verdict verdict =
        judge(
            0,
            "========= COMPUTE-SANITIZER",
            "SANITIZED TESTS: 2 passed, 0 failed",
            "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)");
    assertEquals("passed", verdict.status());
    assertEquals(
        "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings); "
            + "SANITIZED TESTS: 2 passed, 0 failed",
        verdict.message());
  }

  public void testSomethingFound() throws IOException {
    SanitizerStage.Verdict verdict =
        judge(86, "SANITIZED TESTS: 2 passed, 0 failed", "========= ERROR SUMMARY: 3 errors");
    assertEquals("failed", verdict.status());
    assertTrue(verdict.message(), verdict.message().startsWith("ERROR SUMMARY: 3 errors"));
  }

  public void testTheToolRefusesTheDevice() throws IOException {
    SanitizerStage.Verdict verdict =
        judge(
            1,
            "========= Error: Device not supported. Please refer to the documentation.",
            "========= ERROR SUMMARY: 0 errors");
    assertEquals("skipped", verdict.status());
    assertTrue(verdict.message(), verdict.message().startsWith("Error: Device not supported"));
  }

  public void testNoTestRan() throws IOException {
    assertEquals(
        "failed",
        judge(0, "SANITIZED TESTS: 0 passed, 0 failed", "========= ERROR SUMMARY: 0 errors")
            .status());
    assertEquals("failed", judge(134, "A fatal error has been detected").status());
  }
}
