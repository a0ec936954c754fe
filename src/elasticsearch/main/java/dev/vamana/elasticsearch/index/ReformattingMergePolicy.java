package dev.vamana.elasticsearch.index;

import dev.vamana.codec.VamanaVectorsFormat;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.FilterMergePolicy;
import org.apache.lucene.index.MergePolicy;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.SegmentInfo;
import org.apache.lucene.index.SegmentInfos;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;

/**
 * Makes a forced merge rewrite segments in which a vector field has the wrong format: this plugin's
 * format when the settings ask for the stock one, the reverse, a graph in place of lists, or no
 * graphs of the filter field's values. Without it a forced merge would skip a shard that already is
 * a single segment, although a forced merge is the documented way to change the format.
 */
final class ReformattingMergePolicy extends FilterMergePolicy {
  private final VectorFieldFormats formats;

  ReformattingMergePolicy(MergePolicy in, VectorFieldFormats formats) {
    super(in);
    this.formats = formats;
  }

  @Override
  public MergeSpecification findForcedMerges(
      SegmentInfos segmentInfos,
      int maxSegmentCount,
      Map<SegmentCommitInfo, Boolean> segmentsToMerge,
      MergeContext mergeContext)
      throws IOException {
    MergeSpecification merges =
        super.findForcedMerges(segmentInfos, maxSegmentCount, segmentsToMerge, mergeContext);
    Set<SegmentCommitInfo> merging = mergeContext.getMergingSegments();
    if (merges != null || merging.stream().anyMatch(segmentsToMerge::containsKey)) {
      // these merges may rewrite the segments anyway; Lucene asks again when they have ended
      return merges;
    }
    MergeSpecification rewrites = new MergeSpecification();
    for (SegmentCommitInfo segment : segmentInfos) {
      // TRUE marks segments from before the forced merge, so that nothing is rewritten twice
      if (Boolean.TRUE.equals(segmentsToMerge.get(segment)) && isStale(segment.info)) {
        rewrites.add(new OneMerge(List.of(segment)));
      }
    }
    return rewrites.merges.isEmpty() ? null : rewrites;
  }

  private boolean isStale(SegmentInfo segment) throws IOException {
    for (FieldInfo field : fieldInfos(segment)) {
      String written = field.getAttribute(PerFieldKnnVectorsFormat.PER_FIELD_FORMAT_KEY);
      if (field.hasVectorValues() == false || written == null) {
        continue;
      }
      VamanaVectorsFormat ours = formats.vamanaFormat(field.name).orElse(null);
      boolean wasOurs = written.equals(VamanaVectorsFormat.NAME);
      if (wasOurs != (ours != null)
          || (wasOurs
              && ours.writesTypeOf(segment.getAttribute(VamanaVectorsFormat.NAME)) == false)) {
        return true;
      }
    }
    return false;
  }

  /** Reads the fields as first written. Later generations change only attributes of doc values. */
  private static FieldInfos fieldInfos(SegmentInfo segment) throws IOException {
    Codec codec = segment.getCodec();
    if (!segment.getUseCompoundFile()) {
      return codec.fieldInfosFormat().read(segment.dir, segment, "", IOContext.READONCE);
    }
    try (Directory files = codec.compoundFormat().getCompoundReader(segment.dir, segment)) {
      return codec.fieldInfosFormat().read(files, segment, "", IOContext.READONCE);
    }
  }
}
