/** The walks of an index's searches, as its settings and requests change them. */
package dev.vamana.elasticsearch.walks;
