package dev.vamana.vectors;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32;
import org.apache.lucene.codecs.CodecUtil;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.IndexInput;

/**
 * Compares all bytes of a segment file with the checksum in the file's footer. Lucene does so when
 * it merges, and not before. In a compound file this is the part's own footer.
 *
 * <p>A file is compared once as long as its reader is open, and then known to be intact or damaged.
 * Thread-safe; a second thread waits for the first, and may give up.
 */
public final class FileCheck {

  private static final int PART = 4 << 20;
  private static final int HEAP_PART = 1 << 16;
  private static final long SHARED = 32L << 20;
  private static final long WAIT_MILLIS = 10;
  // the checksum of a file covers all bytes before it
  private static final int CHECKSUM_BYTES = Long.BYTES;

  private final String name;
  private final IndexInput file;
  private final ReentrantLock reading = new ReentrantLock();
  private volatile boolean intact;
  private volatile CorruptIndexException damage;

  /**
   * Makes a check, which reads nothing yet.
   *
   * @param name name of the file
   * @param file the whole file; the caller owns it and closes it with the segment's reader
   */
  public FileCheck(String name, IndexInput file) {
    this.name = name;
    this.file = file;
  }

  /** Returns the name of the file. */
  public String name() {
    return name;
  }

  /** Whether the file has been compared, and is damaged. */
  public boolean damaged() {
    return damage != null;
  }

  /**
   * Refuses a file that is known to be damaged. Cheap, since nothing is read.
   *
   * @throws CorruptIndexException if the file has been compared, and is damaged
   */
  void refuseDamaged() throws CorruptIndexException {
    CorruptIndexException known = damage;
    if (known != null) {
      throw new CorruptIndexException(known.getOriginalMessage(), known.getResourceDescription());
    }
  }

  /**
   * Compares the file, unless that has been done.
   *
   * @param abort throws when the work should stop; called every few megabytes, by two threads
   * @throws CorruptIndexException if the bytes do not match the checksum; the message has the
   *     file's name
   * @throws AlreadyClosedException if the segment was closed meanwhile
   */
  public void check(Runnable abort) throws IOException {
    lock(abort);
    try {
      checkOnce(abort);
    } finally {
      reading.unlock();
    }
  }

  private void lock(Runnable abort) {
    boolean interrupted = false;
    boolean locked = false;
    try {
      while (locked == false) {
        try {
          locked = reading.tryLock(WAIT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
        if (locked == false) {
          abort.run();
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void checkOnce(Runnable abort) throws IOException {
    refuseDamaged();
    if (intact) {
      return;
    }
    try {
      compare(abort);
      intact = true;
    } catch (CorruptIndexException e) {
      damage = e;
      throw e;
    } catch (IOException e) {
      if (e instanceof ClosedChannelException || e.getCause() instanceof ClosedChannelException) {
        throw new AlreadyClosedException(name + " was closed", e);
      }
      throw e;
    }
  }

  private void compare(Runnable abort) throws IOException {
    IndexInput input = file.clone();
    long expected = CodecUtil.retrieveChecksum(input);
    long length = input.length() - CHECKSUM_BYTES;
    MemorySegment mapped = FileRegion.of(file, 0, length).segment();
    long found = mapped == null ? read(input, length, abort) : checksum(mapped, abort);
    if (found != expected) {
      throw new CorruptIndexException(
          "the checksum of "
              + name
              + " is "
              + Long.toHexString(found)
              + ", its footer has "
              + Long.toHexString(expected),
          input);
    }
  }

  /** Returns the checksum of mapped bytes; two threads share long files. */
  private long checksum(MemorySegment mapped, Runnable abort) {
    long length = mapped.byteSize();
    if (length < SHARED) {
      return part(mapped, abort);
    }
    long half = length / 2;
    CompletableFuture<Long> second = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                second.complete(part(mapped.asSlice(half), abort));
              } catch (Throwable e) {
                second.completeExceptionally(e);
              }
            },
            "vamana-check");
    thread.setDaemon(true);
    thread.start();
    try {
      long first = part(mapped.asSlice(0, half), abort);
      return JoinedCrc.of(first, second.join(), length - half);
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    } finally {
      // nobody reads the file when this returns
      second.handle((checksum, failure) -> null).join();
    }
  }

  private long part(MemorySegment mapped, Runnable abort) {
    CRC32 crc = new CRC32();
    long length = mapped.byteSize();
    for (long at = 0; at < length; at += PART) {
      abort.run();
      try {
        crc.update(mapped.asSlice(at, Math.min(PART, length - at)).asByteBuffer());
      } catch (IllegalStateException e) {
        throw new AlreadyClosedException(name + " was closed", e);
      }
    }
    return crc.getValue();
  }

  private static long read(IndexInput input, long length, Runnable abort) throws IOException {
    CRC32 crc = new CRC32();
    input.seek(0);
    byte[] bytes = new byte[HEAP_PART];
    for (long at = 0; at < length; ) {
      if (at % PART == 0) {
        abort.run();
      }
      int part = (int) Math.min(HEAP_PART, length - at);
      input.readBytes(bytes, 0, part);
      crc.update(bytes, 0, part);
      at += part;
    }
    return crc.getValue();
  }

  @Override
  public String toString() {
    return name;
  }
}
