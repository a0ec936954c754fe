package dev.vamana.elasticsearch;

import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.index.IndexSettings;

/** Readies Elasticsearch's classes for use outside a node. */
public final class ServerClasses {
  private ServerClasses() {}

  /**
   * Connects the loggers, and initializes the index settings before the classes that need them, as
   * a starting node does: the other way round their initialization is circular and fails.
   */
  public static void ready() {
    LogConfigurator.configureESLogging();
    IndexSettings.MODE.getKey();
  }
}
