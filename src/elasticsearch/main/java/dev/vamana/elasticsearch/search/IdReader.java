package dev.vamana.elasticsearch.search;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.apache.lucene.index.LeafReaderContext;
import org.elasticsearch.index.fieldvisitor.LeafStoredFieldLoader;
import org.elasticsearch.index.fieldvisitor.StoredFieldLoader;
import org.elasticsearch.index.mapper.IdLoader;
import org.elasticsearch.index.mapper.MapperService;

/** Reads only the ids of many documents, segment by segment. */
final class IdReader {

  /** Documents that one thread reads at a time. */
  private static final int RUN = 1024;

  /** If documents are at most this far apart on average, whole blocks of stored fields are read. */
  private static final int DENSE_GAP = 16;

  private final IdLoader ids;
  private final Workers threads;
  private final IdCache cache;

  /**
   * A range of positions in the array of documents, all from one segment, which one thread reads.
   */
  private record Run(LeafReaderContext leaf, int start, int end) {}

  IdReader(MapperService mapperService, Workers threads, IdCache cache) {
    this.threads = threads;
    this.cache = cache;
    this.ids = IdLoader.create(mapperService.getIndexSettings(), mapperService.mappingLookup());
  }

  /**
   * Reads ids.
   *
   * @param docs documents in ascending order
   * @return one id per document
   */
  String[] read(List<LeafReaderContext> leaves, int[] docs) throws IOException {
    List<Run> runs = runs(leaves, docs);
    String[] read = new String[docs.length];
    threads.forEach(0, runs.size(), 1, () -> i -> read(runs.get(i), docs, read), AbortCheck.NEVER);
    return read;
  }

  private void read(Run run, int[] docs, String[] read) throws IOException {
    int[] inLeaf = new int[run.end() - run.start()];
    for (int i = 0; i < inLeaf.length; i++) {
      inLeaf[i] = docs[run.start() + i] - run.leaf().docBase;
    }
    SegmentIds whole =
        ids instanceof IdLoader.StoredIdLoader
            ? cache.get(run.leaf().reader(), inLeaf.length)
            : null;
    if (whole == null) {
      readSingly(run, inLeaf, read);
      return;
    }
    for (int i = 0; i < inLeaf.length; i++) {
      String id = whole.get(inLeaf[i]);
      if (id == null) {
        throw new IllegalStateException(
            "document " + inLeaf[i] + " of segment " + run.leaf() + " has no stored id");
      }
      read[run.start() + i] = id;
    }
  }

  /** Reads ids one by one, as the fetch phase does. */
  private void readSingly(Run run, int[] inLeaf, String[] read) throws IOException {
    boolean dense = (long) inLeaf.length * DENSE_GAP > inLeaf[inLeaf.length - 1] - inLeaf[0];
    LeafStoredFieldLoader stored =
        StoredFieldLoader.create(false, Set.of(), dense).getLoader(run.leaf(), inLeaf);
    IdLoader.Leaf loaded = ids.leaf(stored, run.leaf().reader(), inLeaf);
    for (int i = 0; i < inLeaf.length; i++) {
      stored.advanceTo(inLeaf[i]);
      read[run.start() + i] = loaded.getId(inLeaf[i]);
    }
  }

  private static List<Run> runs(List<LeafReaderContext> leaves, int[] docs) {
    List<Run> runs = new ArrayList<>();
    int start = 0;
    for (LeafReaderContext leaf : leaves) {
      int leafEnd =
          Arrays.binarySearch(docs, start, docs.length, leaf.docBase + leaf.reader().maxDoc());
      leafEnd = leafEnd < 0 ? -leafEnd - 1 : leafEnd;
      for (; start < leafEnd; start = Math.min(leafEnd, start + RUN)) {
        runs.add(new Run(leaf, start, Math.min(leafEnd, start + RUN)));
      }
    }
    return runs;
  }
}
