package dev.vamana.tools.cells;

import dev.vamana.tools.demo.KnnIndex;

/**
 * An index that is measured.
 *
 * @param index the index in the node
 * @param searches searches it
 */
record Contender(KnnIndex index, KeptConnections searches) {}
