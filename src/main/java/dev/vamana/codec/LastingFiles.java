package dev.vamana.codec;

import java.io.Closeable;
import java.io.IOException;
import org.apache.lucene.codecs.CompoundDirectory;
import org.apache.lucene.index.SegmentReadState;
import org.apache.lucene.util.IOUtils;

/**
 * A segment's files that stay mapped until their reader has been closed.
 *
 * <p>Lucene closes a segment's compound file before the readers of vectors, so a device that reads
 * a graph in place would still read it when it is unmapped already. A reader that somebody else
 * reads along with opens the compound file once more, for itself.
 */
final class LastingFiles implements Closeable {

  private final SegmentReadState state;
  private final CompoundDirectory own;

  private LastingFiles(SegmentReadState state, CompoundDirectory own) {
    this.state = state;
    this.own = own;
  }

  /**
   * The files of a segment.
   *
   * @param shared whether an executor may read them too
   */
  static LastingFiles of(SegmentReadState state, boolean shared) throws IOException {
    if (shared == false || state.directory instanceof CompoundDirectory == false) {
      return new LastingFiles(state, null);
    }
    CompoundDirectory own =
        state
            .segmentInfo
            .getCodec()
            .compoundFormat()
            .getCompoundReader(state.segmentInfo.dir, state.segmentInfo);
    return new LastingFiles(
        new SegmentReadState(
            own, state.segmentInfo, state.fieldInfos, state.context, state.segmentSuffix),
        own);
  }

  /** Where to read them. */
  SegmentReadState state() {
    return state;
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(own);
  }
}
