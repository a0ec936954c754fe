package dev.vamana.vectors;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32;
import org.apache.lucene.codecs.CodecUtil;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.store.NIOFSDirectory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.util.StringHelper;

/** Tests the comparison of files with the checksums in their footers. */
public class FileCheckTests extends LuceneTestCase {

  private static final String NAME = "_0.vec";

  private static Path write(int bytes) throws IOException {
    Path folder = createTempDir();
    try (Directory directory = FSDirectory.open(folder);
        IndexOutput output = directory.createOutput(NAME, IOContext.DEFAULT)) {
      CodecUtil.writeIndexHeader(output, "test", 1, StringHelper.randomId(), "");
      byte[] content = new byte[bytes];
      random().nextBytes(content);
      output.writeBytes(content, content.length);
      CodecUtil.writeFooter(output);
    }
    return folder;
  }

  private static Directory open(Path folder) throws IOException {
    return random().nextBoolean() ? new MMapDirectory(folder) : new NIOFSDirectory(folder);
  }

  /** Few bytes, or several parts. */
  private static int size() {
    return random().nextInt(4) == 0 ? (8 << 20) + random().nextInt(1 << 20) : random().nextInt(500);
  }

  public void testAnIntactFile() throws IOException {
    try (Directory directory = open(write(size()));
        IndexInput file = directory.openInput(NAME, IOContext.DEFAULT)) {
      FileCheck check = new FileCheck(NAME, file);
      AtomicInteger asked = new AtomicInteger();
      check.check(asked::incrementAndGet);
      assertTrue("asks whether to stop", asked.get() > 0);
      assertFalse(check.damaged());
      check.check(
          () -> {
            throw new AssertionError("the file is read a second time");
          });
    }
  }

  private static void flip(Path folder) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(folder.resolve(NAME).toFile(), "rw")) {
      long at = (long) (random().nextDouble() * file.length());
      file.seek(at);
      int old = file.read();
      file.seek(at);
      file.write(old ^ (1 << random().nextInt(8)));
    }
  }

  /** One bit anywhere. */
  public void testAFlippedBit() throws IOException {
    Path folder = write(size());
    flip(folder);
    try (Directory directory = open(folder);
        IndexInput input = directory.openInput(NAME, IOContext.DEFAULT)) {
      FileCheck check = new FileCheck(NAME, input);
      for (int times = 0; times < 2; times++) {
        CorruptIndexException found =
            expectThrows(CorruptIndexException.class, () -> check.check(() -> {}));
        assertTrue(found.getMessage(), found.getMessage().contains(NAME));
        assertTrue(check.damaged());
      }
    }
  }

  public void testACutFile() throws IOException {
    Path folder = write(1 + size());
    try (RandomAccessFile file = new RandomAccessFile(folder.resolve(NAME).toFile(), "rw")) {
      file.setLength((long) (random().nextDouble() * file.length()));
    }
    try (Directory directory = open(folder);
        IndexInput input = directory.openInput(NAME, IOContext.DEFAULT)) {
      FileCheck check = new FileCheck(NAME, input);
      expectThrows(CorruptIndexException.class, () -> check.check(() -> {}));
      assertTrue(check.damaged());
    }
  }

  /** Long files are compared by two threads. */
  public void testALongFile() throws IOException {
    int size = (32 << 20) + random().nextInt(1 << 20);
    Path folder = write(size);
    try (Directory directory = new MMapDirectory(folder);
        IndexInput file = directory.openInput(NAME, IOContext.DEFAULT)) {
      new FileCheck(NAME, file).check(() -> {});
      FileCheck stopped = new FileCheck(NAME, file);
      expectThrows(
          CancellationException.class,
          () ->
              stopped.check(
                  () -> {
                    throw new CancellationException();
                  }));
    }
    flip(folder);
    try (Directory directory = new MMapDirectory(folder);
        IndexInput file = directory.openInput(NAME, IOContext.DEFAULT)) {
      FileCheck check = new FileCheck(NAME, file);
      expectThrows(CorruptIndexException.class, () -> check.check(() -> {}));
    }
  }

  private static long crc(byte[] bytes, int from, int to) {
    CRC32 crc = new CRC32();
    crc.update(bytes, from, to - from);
    return crc.getValue();
  }

  /** A file that was not compared to the end is neither intact nor damaged. */
  public void testStops() throws IOException {
    try (Directory directory = open(write(size()));
        IndexInput file = directory.openInput(NAME, IOContext.DEFAULT)) {
      FileCheck check = new FileCheck(NAME, file);
      expectThrows(
          CancellationException.class,
          () ->
              check.check(
                  () -> {
                    throw new CancellationException();
                  }));
      assertFalse(check.damaged());
      AtomicInteger asked = new AtomicInteger();
      check.check(asked::incrementAndGet);
      assertTrue("reads again", asked.get() > 0);
    }
  }
}
