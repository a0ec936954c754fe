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
import org.elasticsearch.index.engine.Engine;

/**
 * Tells segments where to ask what the settings of their index change in walks. A changed setting
 * holds from the next search on.
 */
public final class IndexWalks implements Supplier<WalkChange> {
  private final IndexSettings settings;
  private volatile Read last = new Read(Settings.EMPTY, WalkChange.NONE);

  /** Settings, and the change of walks that was read from them. */
  private record Read(Settings settings, WalkChange change) {}

  private IndexWalks(IndexSettings settings) {
    this.settings = settings;
  }

  /** Makes the warmer of an engine, which gets each reader before searches do. */
  public static Engine.Warmer warmer(Engine.Warmer inner, IndexSettings settings) {
    IndexWalks walks = new IndexWalks(settings);
    return reader -> {
      walks.tell(reader);
      if (inner != null) {
        inner.warm(reader);
      }
    };
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

  private void tell(IndexReader reader) {
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
