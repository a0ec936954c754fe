package dev.vamana.tools.node;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Folders are unpacked, opened and removed, and nothing outside of them is touched. */
public class FileTreesTests {

  @Rule public final TemporaryFolder temporary = new TemporaryFolder();

  private Path zip(String... names) throws IOException {
    Path zip = temporary.newFile().toPath();
    try (OutputStream out = Files.newOutputStream(zip);
        ZipOutputStream entries = new ZipOutputStream(out)) {
      for (String name : names) {
        entries.putNextEntry(new ZipEntry(name));
        if (name.endsWith("/") == false) {
          entries.write(name.getBytes(StandardCharsets.UTF_8));
        }
        entries.closeEntry();
      }
    }
    return zip;
  }

  @Test
  public void testUnzipStaysInside() throws IOException {
    Path folder = temporary.getRoot().toPath().resolve("to");
    Path zip = zip("ok.txt", "../evil.txt");
    IOException failure = assertThrows(IOException.class, () -> FileTrees.unzip(zip, folder));
    assertTrue(failure.getMessage(), failure.getMessage().contains("../evil.txt"));
    assertFalse(Files.exists(folder.resolveSibling("evil.txt")));
  }

  @Test
  public void testPermissions() throws IOException {
    Path folder = temporary.newFolder("closed").toPath();
    Path file = Files.writeString(Files.createDirectory(folder.resolve("sub")).resolve("f"), "x");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
    assertFalse(FileTrees.othersCanEnter(file.getParent()));
    FileTrees.makeReadable(folder);
    assertEquals("rw----r--", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    assertEquals("rwx---r-x", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)));
  }

  @Test
  public void testCopy() throws IOException {
    Path from = temporary.newFolder().toPath();
    Path to = temporary.getRoot().toPath().resolve("in/other");
    Files.createDirectories(from.resolve("a/empty"));
    Files.writeString(from.resolve("a/file"), "content");
    Files.writeString(from.resolve("top"), "");
    FileTrees.copy(from, to, path -> path.endsWith("file"));
    assertTrue(Files.isDirectory(to.resolve("a/empty")));
    assertTrue(Files.isSameFile(from.resolve("a/file"), to.resolve("a/file")));
    assertFalse(Files.isSameFile(from.resolve("top"), to.resolve("top")));
    assertEquals("content", Files.readString(to.resolve("a/file")));
    assertEquals("", Files.readString(to.resolve("top")));
    assertEquals(FileTrees.walk(from).size(), FileTrees.walk(to).size());
    assertThrows(FileAlreadyExistsException.class, () -> FileTrees.copy(from, to, path -> false));
    assertEquals("content", Files.readString(from.resolve("a/file")));
  }
}
