package dev.vamana.tools.text;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.lucene.util.VectorUtil;

/** A small artefact of Javadoc, and engines that answer from memory. */
final class TestText {

  static final String ARTEFACT = "tiny-1.0";
  static final String PAGE = "org/tiny/Writer.html";

  private TestText() {}

  /** The page of a class with members {@code member0} and on. */
  static String page(int members) {
    StringBuilder html = new StringBuilder("<!DOCTYPE html><html><head></head><body>\n");
    html.append("<section class=\"class-description\" id=\"class-description\">\n<hr>\n");
    html.append("<div class=\"block\">Writes tiny things &amp; more <b>to</b> a tiny file.</div>");
    html.append("</section><section class=\"summary\"><div class=\"block\">Not wanted at all,")
        .append(" being a summary of others.</div></section>\n");
    for (int i = 0; i < members; i++) {
      html.append("<section class=\"detail\" id=\"openFile").append(i).append("(int)\">\n");
      html.append("<h3>x</h3><div class=\"block\">Opens <code>file</code> number ").append(i);
      html.append(" of the folder &lt;script&gt;alert(").append(i).append(")&lt;/script&gt; here.");
      html.append("</div></section>\n");
    }
    return html.append("</body></html>").toString();
  }

  /** A folder with one artefact. */
  static JavadocFolder folder(Path folder, int members) throws IOException {
    try (OutputStream file = Files.newOutputStream(folder.resolve(ARTEFACT + "-javadoc.jar"));
        ZipOutputStream zip = new ZipOutputStream(file)) {
      zip.putNextEntry(new ZipEntry(PAGE));
      zip.write(page(members).getBytes(StandardCharsets.UTF_8));
      zip.closeEntry();
      zip.putNextEntry(new ZipEntry("index-files/index-1.html"));
      zip.write(page(1).getBytes(StandardCharsets.UTF_8));
      zip.closeEntry();
    }
    return new JavadocFolder(folder);
  }

  /** An engine with exact answers. */
  static class ExactEngine implements Engine {
    private final String label;
    private final TextSet set;

    ExactEngine(String label, TextSet set) {
      this.label = label;
      this.set = set;
    }

    @Override
    public String label() {
      return label;
    }

    @Override
    public Answer ask(float[] vector, int k, int numCandidates) throws IOException {
      List<Hit> hits = new ArrayList<>();
      for (int i = 0; i < set.passages().size(); i++) {
        double score = (1 + VectorUtil.dotProduct(vector, set.vectors()[i])) / 2;
        hits.add(new Hit(i, score, set.passages().get(i)));
      }
      hits.sort(Comparator.comparingDouble(Hit::score).reversed());
      return new Answer(hits.subList(0, Math.min(k, hits.size())));
    }

    @Override
    public String answeredBy() throws IOException {
      return "memory";
    }
  }

  /** An engine that finds the farthest passages. */
  static final class WrongEngine extends ExactEngine {
    WrongEngine(String label, TextSet set) {
      super(label, set);
    }

    @Override
    public Answer ask(float[] vector, int k, int numCandidates) throws IOException {
      float[] opposite = vector.clone();
      for (int i = 0; i < opposite.length; i++) {
        opposite[i] = -opposite[i];
      }
      return super.ask(opposite, k, numCandidates);
    }
  }

  /** An engine that does not answer. */
  static final class DownEngine extends ExactEngine {
    DownEngine(String label) {
      super(label, null);
    }

    @Override
    public Answer ask(float[] vector, int k, int numCandidates) throws IOException {
      throw new IOException("POST /x/_search: connection <refused>\n--- end of log ---");
    }
  }
}
