package dev.vamana.tools.benchmark;

import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.ivf.CodeKind;
import dev.vamana.work.Workers;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.lucene.codecs.lucene104.Lucene104HnswScalarQuantizedVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.util.quantization.QuantizedByteVectorValues.ScalarEncoding;

/** Lists the contenders, and the ones among them that set the bar. */
final class Contenders {
  /**
   * Above this dimension, product quantization with two dimensions per subspace is far too slow.
   */
  private static final int HIGH_DIMENSION = 200;

  /** Inverted lists; with something behind it, other codes than the default ones. */
  static final String IVF = "vamana-ivf";

  /** Lucene's HNSW on quantized vectors; compared only when asked for. */
  private static final Set<String> QUANTIZED = Set.of("lucene-int8", "lucene-bbq");

  private Contenders() {}

  /** This project's format with inverted lists, written by the calling thread. */
  static VamanaVectorsFormat lists(CodeKind codes) {
    return new VamanaVectorsFormat(
        VamanaParameters.DEFAULT.withType(IndexType.IVF, codes), Workers.callingThread());
  }

  /** HNSW with m 16 and beam 100 on codes, whose results get exact scores. */
  private static Contender quantized(String name, ScalarEncoding codes) {
    return LuceneContender.reranked(
        name, () -> new Lucene104HnswScalarQuantizedVectorsFormat(codes, 16, 100));
  }

  static List<Contender> all() {
    // the order matters: the first build also pays for interpreting code that all Lucene formats
    // share, so it is not one of the two whose builds are compared
    return List.of(
        new LuceneContender("lucene-m16-b100", () -> new Lucene99HnswVectorsFormat(16, 100)),
        new LuceneContender("vamana", VamanaVectorsFormat::new),
        new LuceneContender(IVF, () -> lists(CodeKind.DEFAULT)),
        new LuceneContender(IVF + "2", () -> lists(CodeKind.RABITQ2)),
        new LuceneContender(IVF + "4", () -> lists(CodeKind.RABITQ4)),
        new LuceneContender(IVF + "7", () -> lists(CodeKind.RABITQ7)),
        new LuceneContender(IVF + "-pq", () -> lists(CodeKind.PQ)),
        new LuceneContender("lucene-m32-b200", () -> new Lucene99HnswVectorsFormat(32, 200)),
        quantized("lucene-int8", ScalarEncoding.SEVEN_BIT),
        quantized("lucene-bbq", ScalarEncoding.SINGLE_BIT_QUERY_NIBBLE),
        new JvectorContender());
  }

  /**
   * The names that are compared by default: all, except the one of jvector's subspace sizes that
   * suits the dimension least, lists with other codes, and Lucene's quantized formats.
   */
  static Set<String> standard(int dimension) {
    Set<String> names = names();
    names.remove(JvectorContender.PQ + (dimension > HIGH_DIMENSION ? 2 : 8));
    names.removeIf(name -> name.startsWith(IVF) && name.equals(IVF) == false);
    names.removeAll(QUANTIZED);
    return names;
  }

  /**
   * Checks the names in the option {@code contenders}.
   *
   * @throws IllegalArgumentException if a name is unknown
   */
  static Set<String> choose(List<String> chosen) {
    Set<String> known = names();
    for (String name : chosen) {
      if (!known.contains(name)) {
        throw new IllegalArgumentException(
            "contenders has '" + name + "', allowed are " + String.join(", ", known));
      }
    }
    return new LinkedHashSet<>(chosen);
  }

  /** Whether an index belongs to the bar, against which the others are measured. */
  static boolean isBar(String name) {
    return name.startsWith("lucene-") || name.startsWith(JvectorContender.PQ);
  }

  private static Set<String> names() {
    List<String> names = new ArrayList<>();
    all().forEach(contender -> names.addAll(contender.names()));
    return new LinkedHashSet<>(names);
  }
}
