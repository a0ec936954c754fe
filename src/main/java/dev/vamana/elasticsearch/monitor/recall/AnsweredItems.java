package dev.vamana.elasticsearch.monitor.recall;

import java.util.Map;

/**
 * Items that the searches of a node were answered by, so far. An item is one query in one segment.
 *
 * @param requested all items
 * @param by items by who answered them, such as {@code exact} for a placement on the device, or
 *     {@code cpu.planned}
 */
public record AnsweredItems(long requested, Map<String, Long> by) {}
