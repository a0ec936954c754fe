package dev.vamana.elasticsearch.search;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.StoredFieldDataInput;
import org.apache.lucene.index.StoredFieldVisitor;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.util.ArrayUtil;
import org.elasticsearch.common.lucene.index.SequentialStoredFieldsLeafReader;
import org.elasticsearch.index.fieldvisitor.LeafStoredFieldLoader;
import org.elasticsearch.index.fieldvisitor.StoredFieldLoader;
import org.elasticsearch.index.mapper.IdFieldMapper;
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
  DocIds read(List<LeafReaderContext> leaves, int[] docs) throws IOException {
    List<Run> runs = runs(leaves, docs);
    DocIds[] read = new DocIds[runs.size()];
    threads.forEach(
        0, read.length, 1, () -> i -> read[i] = read(runs.get(i), docs), AbortCheck.NEVER);
    return DocIds.concat(List.of(read));
  }

  private DocIds read(Run run, int[] docs) throws IOException {
    int[] inLeaf = new int[run.end() - run.start()];
    for (int i = 0; i < inLeaf.length; i++) {
      inLeaf[i] = docs[run.start() + i] - run.leaf().docBase;
    }
    int span = inLeaf[inLeaf.length - 1] - inLeaf[0];
    boolean dense = (long) inLeaf.length * DENSE_GAP > span;
    DocIds.Builder read = new DocIds.Builder(inLeaf.length);
    if (ids instanceof IdLoader.StoredIdLoader) {
      SegmentIds whole = cache.get(run.leaf().reader(), inLeaf.length);
      if (whole != null) {
        for (int doc : inLeaf) {
          if (whole.addTo(read, doc) == false) {
            throw new IllegalStateException(noId(doc, run));
          }
        }
        return read.build();
      }
      StoredFields fields = storedFields(run.leaf().reader(), dense);
      StoredId visitor = new StoredId(read);
      for (int i = 0; i < inLeaf.length; i++) {
        visitor.found = false;
        fields.document(inLeaf[i], visitor);
        if (read.size() != i + 1) {
          throw new IllegalStateException(noId(inLeaf[i], run));
        }
      }
      return read.build();
    }
    LeafStoredFieldLoader stored =
        StoredFieldLoader.create(false, Set.of(), dense).getLoader(run.leaf(), inLeaf);
    IdLoader.Leaf leafIds = ids.leaf(stored, run.leaf().reader(), inLeaf);
    for (int i = 0; i < inLeaf.length; i++) {
      stored.advanceTo(inLeaf[i]);
      byte[] id = leafIds.getId(inLeaf[i]).getBytes(StandardCharsets.UTF_8);
      read.add(id, 0, id.length);
    }
    return read.build();
  }

  private static String noId(int doc, Run run) {
    return "document " + doc + " of segment " + run.leaf() + " has no stored id";
  }

  private static StoredFields storedFields(LeafReader reader, boolean dense) throws IOException {
    return dense && reader instanceof SequentialStoredFieldsLeafReader sequential
        ? sequential.getSequentialStoredFieldsReader()
        : reader.storedFields();
  }

  /** Adds the stored ids of documents, one of each. */
  private static final class StoredId extends StoredFieldVisitor {
    private final DocIds.Builder read;
    private byte[] stored = new byte[64];
    private boolean found;

    StoredId(DocIds.Builder read) {
      this.read = read;
    }

    @Override
    public Status needsField(FieldInfo field) {
      if (found) {
        return Status.STOP;
      }
      return field.name.equals(IdFieldMapper.NAME) ? Status.YES : Status.NO;
    }

    @Override
    public void binaryField(FieldInfo field, StoredFieldDataInput value) throws IOException {
      stored = ArrayUtil.grow(stored, value.length());
      value.in().readBytes(stored, 0, value.length());
      read.addStored(stored, 0, value.length());
      found = true;
    }

    @Override
    public void binaryField(FieldInfo field, byte[] value) {
      read.addStored(value, 0, value.length);
      found = true;
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

  /**
   * A range of positions in the array of documents, all from one segment, which one thread reads.
   */
  private record Run(LeafReaderContext leaf, int start, int end) {}
}
