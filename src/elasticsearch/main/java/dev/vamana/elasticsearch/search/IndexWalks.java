package dev.vamana.elasticsearch.search;

import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import dev.vamana.search.WalkChange;
import java.util.function.Supplier;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.IndexSettings;

/**
 * Tells segments where to ask what the settings of their index change in walks. A changed setting
 * holds from the next search on.
 */
public final class IndexWalks implements Supplier<WalkChange> {
  private final IndexSettings settings;
  private volatile Read last = new Read(Settings.EMPTY, WalkChange.NONE);

  /** Settings, and the change of walks that was read from them. */
  private record Read(Settings settings, WalkChange change) {}

  /** Makes an instance for one index. */
  public IndexWalks(IndexSettings settings) {
    this.settings = settings;
  }

  // settings are another object after each change, and comparing them would cost searches time
  @SuppressWarnings("ReferenceEquality")
  @Override
  public WalkChange get() {
    Settings now = settings.getSettings();
    Read read = last;
    if (read.settings() != now) {
      read = new Read(now, WalkSettings.of(now));
      last = read;
    }
    return read.change();
  }

  /** Tells the segments of a reader. Engines call it before searches use the reader. */
  public void tell(IndexReader reader) {
    for (LeafReaderContext leaf : reader.leaves()) {
      for (FieldInfo field : leaf.reader().getFieldInfos()) {
        SegmentView view =
            field.hasVectorValues() ? SegmentViews.of(leaf.reader(), field.name) : null;
        if (view != null) {
          view.walkChanges(this);
        }
      }
    }
  }
}
