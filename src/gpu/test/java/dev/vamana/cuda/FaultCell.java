package dev.vamana.cuda;

import dev.vamana.cuda.driver.InterceptedDriver;
import dev.vamana.cuda.driver.SeamDriver;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.PlanMode;

/**
 * One way in which a device fails.
 *
 * @param phase the node's activity meanwhile
 * @param route how segments are searched
 * @param call the call of the driver that goes wrong
 * @param fault how it goes wrong
 * @param n which of these calls since the phase began, from 1
 */
record FaultCell(
    Phase phase, Route route, InterceptedDriver.Call call, SeamDriver.Fault fault, int n) {

  /** Activity of the node. */
  enum Phase {
    OPENING("opening a context"),
    INDEXING("indexing"),
    MERGING("merging"),
    WARMING("warming"),
    SEARCHING("searching"),
    CLOSING("closing");

    private final String title;

    Phase(String title) {
      this.title = title;
    }

    String title() {
      return title;
    }

    /** Whether it depends on how segments are searched. */
    boolean ofSegments() {
      return this == WARMING || this == SEARCHING || this == CLOSING;
    }
  }

  /** Where segments lie, and with which plan they are searched. */
  enum Route {
    EXACT(Placement.EXACT, PlanMode.GRAPH),
    FLOAT16(Placement.EXACT_FLOAT16, PlanMode.GRAPH),
    INT8(Placement.EXACT_INT8, PlanMode.GRAPH),
    CODES(Placement.IN_MEMORY, PlanMode.GRAPH),
    MAPPED(Placement.MAPPED_GRAPH, PlanMode.GRAPH),
    HOST_FETCH(Placement.HOST_FETCH, PlanMode.GRAPH),
    SCAN(Placement.EXACT, PlanMode.EXACT),
    LISTS(Placement.EXACT, PlanMode.GRAPH),
    MAPPED_LISTS(Placement.IN_MEMORY, PlanMode.GRAPH),
    STOCK(Placement.EXACT, PlanMode.GRAPH);

    private final Placement placement;
    private final PlanMode plan;

    Route(Placement placement, PlanMode plan) {
      this.placement = placement;
      this.plan = plan;
    }

    Placement placement() {
      return placement;
    }

    /** Whether segments have inverted lists. */
    boolean lists() {
      return this == LISTS || this == MAPPED_LISTS;
    }

    PlanMode plan() {
      return plan;
    }
  }
}
