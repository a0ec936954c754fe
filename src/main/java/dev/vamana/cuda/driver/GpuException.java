package dev.vamana.cuda.driver;

/** The driver refused or failed. Callers answer from the CPU. */
public final class GpuException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** What went wrong. */
  public enum Kind {
    /** No driver, no device, or one that the kernels do not run on. */
    UNAVAILABLE,
    /** Device or pinned memory ran out. */
    OUT_OF_MEMORY,
    /** The driver cannot do this here. */
    NOT_SUPPORTED,
    /** The context is gone: a trapped kernel, an illegal address, a lost device. */
    CONTEXT_LOST,
    /** Any other error. */
    FAILED
  }

  private final Kind kind;

  public GpuException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  public GpuException(Kind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  /** What went wrong. */
  public Kind kind() {
    return kind;
  }

  /** Whether the context has to be replaced. */
  public boolean contextLost() {
    return kind == Kind.CONTEXT_LOST;
  }
}
