package dev.vamana.cuda.question;

/** A device answered a question otherwise than it must. The message names the kernels. */
public final class WrongAnswerException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  WrongAnswerException(String message) {
    super(message);
  }

  WrongAnswerException(String message, Throwable cause) {
    super(message, cause);
  }
}
