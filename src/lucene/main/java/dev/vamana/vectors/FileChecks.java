package dev.vamana.vectors;

import java.util.List;
import java.util.stream.Stream;
import org.apache.lucene.index.CorruptIndexException;

/**
 * The checks of a segment's files.
 *
 * @param vectors the raw vectors
 * @param graph the graph; null without one
 * @param codes codes and codebook; null without codes
 */
public record FileChecks(FileCheck vectors, FileCheck graph, FileCheck codes) {

  /** Checks of no file. */
  public static final FileChecks NONE = new FileChecks(null, null, null);

  /** Returns the checks of the files that the segment has. */
  public List<FileCheck> all() {
    return Stream.of(vectors, graph, codes).filter(check -> check != null).toList();
  }

  /**
   * Refuses a segment with a file that is known to be damaged. Cheap, since nothing is read.
   *
   * @throws CorruptIndexException if there is one; the message has the file's name
   */
  public void refuseDamaged() throws CorruptIndexException {
    refuseDamaged(vectors);
    refuseDamaged(graph);
    refuseDamaged(codes);
  }

  private static void refuseDamaged(FileCheck check) throws CorruptIndexException {
    if (check != null) {
      check.refuseDamaged();
    }
  }

  /** Returns the names of the files that are known to be damaged. */
  public List<String> damaged() {
    return all().stream().filter(FileCheck::damaged).map(FileCheck::name).toList();
  }
}
