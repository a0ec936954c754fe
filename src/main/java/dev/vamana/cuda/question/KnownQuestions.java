package dev.vamana.cuda.question;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.ivf.CodeKind;
import dev.vamana.pq.CodebookId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.util.IOUtils;

/**
 * Asks a context what is known: a few hundred generated vectors are brought to the device in every
 * format, and every kernel that searches, trains or encodes works on them. One thread at a time
 * uses an instance. {@code session.Questioner} decides when.
 */
public final class KnownQuestions {

  static final CodebookId CODEBOOK = new CodebookId(new byte[CodebookId.ID_BYTES], "known", 1);

  private static final int MOST_NAMED = 8;

  /** Number of rounds after which questions repeat. */
  static final int ROUNDS = 4;

  private final KnownVectors known = new KnownVectors();
  private final KnownSegment floats;
  private final KnownSegment bytes;
  private final KnownSegment floatLists;
  private final KnownSegment byteLists;
  private final KnownSegment floatQuantized;
  private final KnownSegment byteQuantized;
  private int round;

  /** Generates the vectors, which takes some milliseconds. */
  public KnownQuestions() {
    try {
      floats =
          new KnownSegment(
              known,
              VectorEncoding.FLOAT32,
              TrainingQuestions.codebook(
                  known.floats().toArray(float[][]::new), KnownVectors.PART));
      bytes = new KnownSegment(known, VectorEncoding.BYTE, null);
      // tails are read with codes of more than one bit only
      floatLists = KnownSegment.ofLists(known, VectorEncoding.FLOAT32, CodeKind.RABITQ1);
      byteLists = KnownSegment.ofLists(known, VectorEncoding.BYTE, CodeKind.RABITQ4);
      floatQuantized = KnownSegment.ofLists(known, VectorEncoding.FLOAT32, CodeKind.PQ);
      byteQuantized = KnownSegment.ofLists(known, VectorEncoding.BYTE, CodeKind.PQ);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The end of an interrogation.
   *
   * @param asked questions that were answered, all of them right
   * @param skipped questions for which the device has no kernel
   */
  public record Answers(int asked, int skipped) {}

  /**
   * Asks everything. Each round asks for other answers than the last, which may still be in memory
   * and would look right if a kernel did nothing. Binds the driver to the calling thread, and
   * leaves nothing behind.
   *
   * @throws WrongAnswerException if an answer is wrong; all questions have been asked then, but
   *     those about graphs, whose kernels read where the answers of others point
   * @throws GpuException if the device gives no answer; as a lost context if it does not give
   *     memory back
   */
  public Answers ask(CudaDriver driver) {
    driver.bind();
    SessionHostMemory account = new SessionHostMemory(HostMemoryAccount.UNLIMITED);
    Interrogation interrogation = new Interrogation();
    skip();
    interrogation.ask(new WalkQuestions(driver, account, known, floats, bytes, round));
    interrogation.ask(new WalkQuestions(driver, account, known, floatLists, byteLists, round));
    interrogation.ask(
        new WalkQuestions(driver, account, known, floatQuantized, byteQuantized, round));
    interrogation.ask(new ScanQuestions(driver, account, known, round));
    interrogation.ask(new SelectQuestions(driver, account));
    interrogation.ask(new TrainingQuestions(driver, account, round));
    if (interrogation.nothingWrong()) {
      // kernels that build go where walks lead them
      interrogation.ask(new BuildQuestions(driver, account, round));
    }
    return interrogation.end();
  }

  /** Leaves out a round. */
  void skip() {
    round = (round + 1) % ROUNDS;
  }

  /** Counts answers. */
  private static final class Interrogation {
    private final List<String> wrong = new ArrayList<>();
    private RuntimeException first;
    private int asked;
    private int skipped;

    /** Asks questions, and closes them. */
    void ask(Questions questions) {
      GpuException failure = null;
      boolean ended = false;
      try {
        failure = askAll(questions.all());
        ended = true;
      } finally {
        if (ended == false) {
          // an error is being thrown
          IOUtils.closeWhileHandlingException(questions);
        }
      }
      try {
        questions.close();
      } catch (GpuException e) {
        throw e.asLoss();
      }
      if (failure != null) {
        throw failure;
      }
    }

    /** Returns the failure that ended the questions, or null. */
    private GpuException askAll(List<Question> questions) {
      for (Question question : questions) {
        try {
          question.asked().run();
          asked++;
        } catch (GpuException e) {
          if (e.kind() != GpuException.Kind.NOT_SUPPORTED) {
            return e;
          }
          skipped++;
        } catch (IOException | RuntimeException e) {
          // answers beyond all bounds fail where they are read
          wrong.add(question.family() + " (" + e.getMessage() + ")");
          first = first != null ? first : new WrongAnswerException(e.getMessage(), e);
        }
      }
      return null;
    }

    boolean nothingWrong() {
      return wrong.isEmpty();
    }

    Answers end() {
      if (wrong.isEmpty()) {
        return new Answers(asked, skipped);
      }
      String more =
          wrong.size() > MOST_NAMED ? " and " + (wrong.size() - MOST_NAMED) + " more" : "";
      throw new WrongAnswerException(
          "the device answers wrong: "
              + String.join("; ", wrong.subList(0, Math.min(MOST_NAMED, wrong.size())))
              + more,
          first);
    }
  }
}
