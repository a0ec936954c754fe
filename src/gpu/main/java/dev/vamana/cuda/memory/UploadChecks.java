package dev.vamana.cuda.memory;

import dev.vamana.vectors.FileCheck;
import dev.vamana.work.Threads;
import java.io.IOException;
import java.util.List;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.util.IOUtils;

/**
 * Compares the checksums of the files of an upload while another thread copies them, so that the
 * files are read from disk once and the copy does not wait.
 */
final class UploadChecks implements AutoCloseable {

  private static final long ASK_MILLIS = 10;

  private final Thread thread;
  private volatile boolean stopped;
  private Throwable failure;

  /**
   * Begins to compare.
   *
   * @param files files to compare; files that were compared before are not read again
   */
  UploadChecks(List<FileCheck> files) {
    this.thread = new Thread(() -> run(files), "vamana-gpu-check");
    thread.setDaemon(true);
    thread.start();
  }

  private void run(List<FileCheck> files) {
    try {
      for (FileCheck file : files) {
        file.check(this::checkWanted);
      }
    } catch (IOException | RuntimeException | Error e) {
      failure = e;
    }
  }

  private void checkWanted() {
    if (stopped) {
      throw new AlreadyClosedException("the upload has ended");
    }
  }

  /**
   * Waits until all files have been compared.
   *
   * @param abort throws when the upload should stop; called every few milliseconds
   * @throws org.apache.lucene.index.CorruptIndexException if one is damaged
   */
  void await(Runnable abort) throws IOException {
    boolean interrupted = false;
    try {
      while (thread.isAlive()) {
        abort.run();
        try {
          thread.join(ASK_MILLIS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    if (failure != null) {
      throw IOUtils.rethrowAlways(failure);
    }
  }

  /** Stops comparing, and waits until no file is read any more. */
  @Override
  public void close() {
    stopped = true;
    Threads.join(thread);
  }
}
