package dev.vamana.tools.gpu;

import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.Reads;
import dev.vamana.cuda.kernel.SharedLayout;
import dev.vamana.cuda.kernel.SharedMemoryPlan;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.kernel.WalkShape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Writes docs/internals/gpu-shared-memory.md. To be run whenever the plan or the layout changes.
 */
public final class SharedMemoryTable {

  /** Path of the page. */
  public static final Path PAGE = Path.of("docs/internals/gpu-shared-memory.md");

  private static final int HOPPER_BYTES = 232_448;
  private static final int AMPERE_BYTES = 166_912;
  private static final int DEGREE = 64;
  private static final int[] SUBSPACES = {8, 16, 32, 64, 96, 128, 192, 256};
  private static final int[] BEAMS = {64, 128, 256, 1024, 4096, 10_000};
  private static final int[] DIMENSIONS = {128, 768, 4096};

  private SharedMemoryTable() {}

  /** Writes the page, relative to the working directory. */
  public static void main(String[] arguments) throws IOException {
    Files.writeString(PAGE, text());
  }

  /** Returns the text of the page. */
  public static String text() {
    StringBuilder page = new StringBuilder();
    page.append(
        """
        # Shared memory of the walk kernels

        Made by `dev.vamana.tools.gpu.SharedMemoryTable`; a test checks that it is up to date.

        `SharedMemoryPlan` chooses how much shared memory a block takes:

        | part | bytes |
        | --- | --- |
        | worklist | 8 for each entry |
        | neighbours of a step | 12 for each |
        | table of visited nodes | 4 for each slot |
        | query | 4 for each dimension |
        | distance table, for walks on codes | for each subspace 512 in half precision, 1,024 in single |

        The column "blocks" is the number of blocks of one warp that fit the shared memory of a
        multiprocessor, at most 32. Sizes are rounded up first, so that walks that differ a little share
        a launch. A launch takes what its largest walk needs, which may be less than the table says, and
        twice the slots if as many of its blocks fit with them.

        All tables are for adjacency rows of 64 slots and one parent a step.

        """);
    for (int dimension : DIMENSIONS) {
      page.append(
          String.format(
              Locale.ROOT,
              """
              ## Codes, %,d dimensions

              | m | beam | half: bytes | half: blocks | float: bytes | float: blocks | path, compute capability 9.0 and up | bytes | slots | blocks | path, 8.0 | bytes | slots | blocks |
              | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |
              """,
              dimension));
      for (int subspaces : SUBSPACES) {
        if (subspaces > dimension) {
          continue;
        }
        for (int beam : BEAMS) {
          WalkShape shape = shape(Reads.CODES, dimension, subspaces, beam);
          page.append("| ").append(subspaces).append(" | ").append(beam).append(" |");
          forced(page, shape, Policy.TABLE_HALF);
          forced(page, shape, Policy.TABLE_FLOAT);
          chosen(page, shape, HOPPER_BYTES);
          chosen(page, shape, AMPERE_BYTES);
          page.append('\n');
        }
      }
      page.append('\n');
    }
    page.append(
        """
        ## Vectors

        | dimensions | beam | bytes, compute capability 9.0 and up | slots | blocks | bytes, 8.0 | slots | blocks |
        | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
        """);
    for (int dimension : DIMENSIONS) {
      for (int beam : BEAMS) {
        WalkShape shape = shape(Reads.FLOAT32, dimension, 0, beam);
        page.append("| ").append(dimension).append(" | ").append(beam).append(" |");
        numbers(page, SharedMemoryPlan.of(shape, HOPPER_BYTES, Tuning.DEFAULT), HOPPER_BYTES);
        numbers(page, SharedMemoryPlan.of(shape, AMPERE_BYTES, Tuning.DEFAULT), AMPERE_BYTES);
        page.append('\n');
      }
    }
    return page.toString();
  }

  private static WalkShape shape(Reads reads, int dimension, int subspaces, int beam) {
    return WalkShape.of(reads, dimension, subspaces, beam, DEGREE, 1, 0, false);
  }

  /** Appends the size that a given kind of table would take with the wanted visited slots. */
  private static void forced(StringBuilder page, WalkShape shape, Policy policy) {
    SharedMemoryPlan plan =
        SharedMemoryPlan.of(shape, Integer.MAX_VALUE, Tuning.DEFAULT.withTable(policy));
    int room = HOPPER_BYTES + SharedLayout.RESERVED_BYTES;
    int blocks =
        Math.min(
            SharedMemoryPlan.MAX_BLOCKS, room / (plan.sharedBytes() + SharedLayout.RESERVED_BYTES));
    page.append(String.format(Locale.ROOT, " %,d | %d |", plan.sharedBytes(), blocks));
  }

  private static void chosen(StringBuilder page, WalkShape shape, int blockBytes) {
    SharedMemoryPlan plan = SharedMemoryPlan.of(shape, blockBytes, Tuning.DEFAULT);
    page.append(' ')
        .append(
            plan == null
                ? "none"
                : switch (plan.policy()) {
                  case TABLE_HALF -> "half, shared";
                  case TABLE_FLOAT -> "float, shared";
                  case TABLE_GLOBAL -> "float, device memory";
                  default -> throw new IllegalStateException(plan.toString());
                })
        .append(" |");
    numbers(page, plan, blockBytes);
  }

  private static void numbers(StringBuilder page, SharedMemoryPlan plan, int blockBytes) {
    page.append(
        plan == null
            ? " | | |"
            : String.format(
                Locale.ROOT,
                " %,d | %,d | %d |",
                plan.sharedBytes(),
                plan.visitedSlots(),
                plan.blocks(blockBytes)));
  }
}
