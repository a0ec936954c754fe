package dev.vamana.cuda.devices;

import dev.vamana.graph.GraphEngine;
import dev.vamana.graph.GraphTask;
import dev.vamana.graph.VamanaGraph;
import java.io.IOException;
import java.util.List;

/** Builds each graph on the device that builds the fewest. */
final class SharedGraphs implements GraphEngine {

  private final List<Member> members;

  SharedGraphs(List<Member> members) {
    this.members = members;
  }

  @Override
  public VamanaGraph build(GraphTask task) throws IOException {
    Member member = leastBuilding(members);
    Member.Build build = member.build();
    try {
      return member.executor.graphs().build(task);
    } finally {
      build.close();
    }
  }

  /**
   * Returns a usable device with the fewest graphs and codebooks under way; or the first device.
   */
  static Member leastBuilding(List<Member> members) {
    Member least = null;
    for (Member member : members) {
      if (member.executor.usable() && (least == null || member.builds() < least.builds())) {
        least = member;
      }
    }
    return least == null ? members.get(0) : least;
  }
}
