package dev.vamana.cuda.question;

import org.apache.lucene.util.IORunnable;

/**
 * A question to a family of kernels.
 *
 * @param family what is asked, for messages
 * @param asked asks, waits for the answer, and compares it; throws a {@link WrongAnswerException}
 *     if it is wrong, and a {@link dev.vamana.cuda.driver.GpuException} if the device gives none
 */
record Question(String family, IORunnable asked) {

  /** Throws if something is wrong. */
  static void check(String wrong) {
    if (wrong != null) {
      throw new WrongAnswerException(wrong);
    }
  }
}
