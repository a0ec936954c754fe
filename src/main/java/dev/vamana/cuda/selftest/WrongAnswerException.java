package dev.vamana.cuda.selftest;

/** A device answered a self-test otherwise than the CPU. The message names the searches. */
public final class WrongAnswerException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  WrongAnswerException(String message, Throwable cause) {
    super(message, cause);
  }
}
