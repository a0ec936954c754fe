package dev.vamana.codec;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.store.ReadAdvice;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Read advice that Lucene gives the system for mapped files. */
// Lucene maps files of the real file system only
@LuceneTestCase.SuppressFileSystems("*")
public class ReadAdviceTests extends LuceneTestCase {

  private final List<String> given = new ArrayList<>();

  /** A directory that advises by the purpose of opening a file, as Elasticsearch's does. */
  private MMapDirectory directory(Path path) throws IOException {
    MMapDirectory directory = new MMapDirectory(path);
    directory.setReadAdvice(
        (name, context) -> {
          ReadAdvice advice =
              MMapDirectory.ADVISE_BY_CONTEXT.apply(name, context).orElse(ReadAdvice.NORMAL);
          given.add(name.substring(name.lastIndexOf('.') + 1) + " " + advice);
          return java.util.Optional.of(advice);
        });
    return directory;
  }

  private long count(String advice) {
    return given.stream().filter(advice::equals).count();
  }

  public void testAdvice() throws IOException {
    float[][] vectors = Segments.clustered(random(), 60, 8);
    try (MMapDirectory directory = directory(createTempDir())) {
      try (IndexWriter writer =
          new IndexWriter(
              directory, Segments.config(Segments.SMALL).setMergePolicy(new LogDocMergePolicy()))) {
        for (int i = 0; i < vectors.length; i++) {
          writer.addDocument(Segments.document(i, vectors[i]));
          if (i == 30) {
            writer.commit();
          }
        }
        given.clear();
        writer.flush();
        assertEquals("a flush builds at random: " + given, 1, count("vec RANDOM"));
        assertEquals(given.toString(), 0, count("vec SEQUENTIAL"));
        writer.commit();
        given.clear();
        writer.forceMerge(1);
        // the sources are read from start to end
        assertEquals("a merge builds at random: " + given, 1, count("vec RANDOM"));
      }
      given.clear();
      DirectoryReader.open(directory).close();
      for (String file : List.of("vec", "vex", "veq")) {
        assertEquals(given.toString(), 1, count(file + " RANDOM"));
        assertEquals("checksums: " + given, 1, count(file + " SEQUENTIAL"));
      }
    }
  }
}
