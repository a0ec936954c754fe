package dev.vamana.elasticsearch.index;

import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import dev.vamana.elasticsearch.codebook.store.CodebookUsers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.metadata.IndexMetadata;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;

/** Compares codebooks with the mappings of the indices in the cluster state that name them. */
public final class NamingIndices implements CodebookUsers {
  private static final Logger logger = LogManager.getLogger(NamingIndices.class);

  private final Supplier<ClusterState> state;
  private final CodebookSettingCheck check;

  public NamingIndices(Supplier<ClusterState> state, CodebookSettingCheck check) {
    this.state = state;
    this.check = check;
  }

  @Override
  public List<String> unfit(String name, VectorSpace next) {
    List<String> unfit = new ArrayList<>();
    for (IndexMetadata index : state.get().metadata().indicesAllProjects()) {
      CodebookSetting.of(index.getSettings())
          .forEach(
              (field, named) -> {
                if (named.equals(name)) {
                  String reason = reason(index, field, name, next);
                  if (reason != null) {
                    unfit.add(
                        "field ["
                            + field
                            + "] of index ["
                            + index.getIndex().getName()
                            + "]: "
                            + reason);
                  }
                }
              });
    }
    unfit.sort(null);
    return unfit;
  }

  private String reason(IndexMetadata index, String field, String name, VectorSpace next) {
    try {
      check.check(index, Map.of(field, name));
    } catch (RuntimeException e) {
      // the field cannot use the present version either
      logger.debug("field [" + field + "] cannot use codebook [" + name + "]", e);
      return null;
    }
    try {
      check.check(index, Map.of(field, name), next);
      return null;
    } catch (CodebookSettingCheck.Refusal e) {
      return e.reason();
    }
  }
}
