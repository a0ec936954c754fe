package dev.vamana.cuda.question;

import java.io.IOException;

/**
 * A question to a family of kernels.
 *
 * @param family what is asked, for messages
 * @param asked asks, and compares the answer
 */
record Question(String family, Asked asked) {

  /** Asks a device. */
  @FunctionalInterface
  interface Asked {

    /**
     * Asks, and waits for the answer.
     *
     * @throws WrongAnswerException if the answer is wrong
     * @throws dev.vamana.cuda.driver.GpuException if the device gives none
     */
    void ask() throws IOException;
  }

  /** Throws if something is wrong. */
  static void check(String wrong) {
    if (wrong != null) {
      throw new WrongAnswerException(wrong);
    }
  }
}
