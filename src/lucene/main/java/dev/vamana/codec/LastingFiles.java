package dev.vamana.codec;

import java.io.Closeable;
import java.io.IOException;
import org.apache.lucene.codecs.CompoundDirectory;
import org.apache.lucene.index.SegmentReadState;
import org.apache.lucene.util.IOUtils;

/**
 * Keeps a segment's files mapped until the segment's reader is closed.
 *
 * <p>Lucene closes a segment's compound file before it closes the vectors reader, but a device may
 * still be reading the graph in place. If an executor is registered, the reader therefore opens the
 * compound file a second time, for itself.
 */
final class LastingFiles implements Closeable {

  private final SegmentReadState state;
  private final CompoundDirectory own;

  private LastingFiles(SegmentReadState state, CompoundDirectory own) {
    this.state = state;
    this.own = own;
  }

  /**
   * Opens the files of a segment.
   *
   * @param shared whether an executor may read the files, too
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

  /** The state to open the segment's files with. */
  SegmentReadState state() {
    return state;
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(own);
  }
}
