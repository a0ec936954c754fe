package dev.vamana.tools.node;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/** Works on whole folders of a node's home or data. */
public final class FileTrees {

  private FileTrees() {}

  /** Lists {@code root} and everything below it; a folder comes before its content. */
  static List<Path> walk(Path root) throws IOException {
    try (Stream<Path> paths = Files.walk(root)) {
      return paths.toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** Removes {@code root} and everything below it; does nothing if it does not exist. */
  public static void delete(Path root) throws IOException {
    if (Files.notExists(root, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    for (Path path : walk(root).stream().sorted(Comparator.reverseOrder()).toList()) {
      Files.deleteIfExists(path);
    }
  }

  /**
   * Copies {@code from} and everything below it to {@code to}, which must not exist.
   *
   * @param shared tells which files both folders are to have by hard links, since nobody will write
   *     to them
   */
  public static void copy(Path from, Path to, Predicate<Path> shared) throws IOException {
    Files.createDirectories(to.getParent());
    for (Path path : walk(from)) {
      Path target = to.resolve(from.relativize(path).toString());
      if (Files.isRegularFile(path) && shared.test(path)) {
        Files.createLink(target, path);
      } else {
        Files.copy(path, target);
      }
    }
  }

  /**
   * Copies the regular files directly in {@code from} to {@code to}, creates {@code to} if needed,
   * and returns the number of files.
   */
  static int copyFiles(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    int copied = 0;
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.copy(
            file, to.resolve(file.getFileName().toString()), StandardCopyOption.REPLACE_EXISTING);
        copied++;
      }
    }
    return copied;
  }

  /**
   * Unpacks {@code zip} into {@code to}.
   *
   * @throws IOException if the zip cannot be read, or names a path outside {@code to}
   */
  static void unzip(Path zip, Path to) throws IOException {
    Files.createDirectories(to);
    try (InputStream in = Files.newInputStream(zip);
        ZipInputStream entries = new ZipInputStream(in)) {
      for (ZipEntry entry = entries.getNextEntry(); entry != null; entry = entries.getNextEntry()) {
        Path path = to.resolve(entry.getName()).normalize();
        if (path.startsWith(to) == false) {
          throw new IOException(zip + " names a path outside of it: " + entry.getName());
        }
        if (entry.isDirectory()) {
          Files.createDirectories(path);
        } else {
          Files.createDirectories(path.getParent());
          Files.copy(entries, path, StandardCopyOption.REPLACE_EXISTING);
        }
      }
    }
  }

  /** Lets every user read {@code root} and everything below it, and enter its folders. */
  static void makeReadable(Path root) throws IOException {
    for (Path path : walk(root)) {
      Set<PosixFilePermission> permissions = EnumSet.copyOf(Files.getPosixFilePermissions(path));
      boolean changed = permissions.add(PosixFilePermission.OTHERS_READ);
      if (Files.isDirectory(path)) {
        changed |= permissions.add(PosixFilePermission.OTHERS_EXECUTE);
      }
      if (changed) {
        Files.setPosixFilePermissions(path, permissions);
      }
    }
  }

  /** Makes the user and group {@code id} the owner of {@code root} and everything below it. */
  static void giveTo(Path root, int id) throws IOException {
    for (Path path : walk(root)) {
      try {
        Files.setAttribute(path, "unix:uid", id, LinkOption.NOFOLLOW_LINKS);
        Files.setAttribute(path, "unix:gid", id, LinkOption.NOFOLLOW_LINKS);
      } catch (NoSuchFileException vanished) {
        // a node that is stopping removes its lock and temporary files
        continue;
      }
    }
  }

  /** Whether users other than owner and group may enter {@code path} and every folder above it. */
  static boolean othersCanEnter(Path path) throws IOException {
    for (Path folder = path.toRealPath(); folder != null; folder = folder.getParent()) {
      if (Files.getPosixFilePermissions(folder).contains(PosixFilePermission.OTHERS_EXECUTE)
          == false) {
        return false;
      }
    }
    return true;
  }
}
