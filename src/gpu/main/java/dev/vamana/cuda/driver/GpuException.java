package dev.vamana.cuda.driver;

/** A call of the driver failed. Callers fall back to the CPU. */
public final class GpuException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** The kind of a failure. */
  public enum Kind {
    /** There is no driver, no device, or no device that the kernels support. */
    UNAVAILABLE,
    /** Device or pinned memory ran out. */
    OUT_OF_MEMORY,
    /** The driver does not support the operation on this machine. */
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

  /** Returns the kind of the failure. */
  public Kind kind() {
    return kind;
  }

  /** Whether the context has to be replaced. */
  public boolean contextLost() {
    return kind == Kind.CONTEXT_LOST;
  }

  /** Returns this failure as one after which the context has to be replaced. */
  public GpuException asLoss() {
    return contextLost() ? this : new GpuException(Kind.CONTEXT_LOST, getMessage(), this);
  }
}
