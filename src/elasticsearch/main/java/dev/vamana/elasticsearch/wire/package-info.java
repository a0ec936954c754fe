/** How nodes with different releases of the plugin read each other's messages. All rooms use it. */
package dev.vamana.elasticsearch.wire;
