package dev.vamana.tools.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Builds the command line that starts a modular node, as the distribution's launcher does. */
final class NodeCommand {

  private static final int LOWEST_JAVA = 25;

  private NodeCommand() {}

  /**
   * Returns the command that starts the node in {@code home} with the JDK that runs this program.
   *
   * @throws IllegalStateException if this JDK is too old or the node's user cannot run it
   */
  static List<String> of(NodeHome home, NodeOptions options) throws IOException {
    if (Runtime.version().feature() < LOWEST_JAVA) {
      throw new IllegalStateException(
          "the node runs on the JDK that runs this program and needs Java "
              + LOWEST_JAVA
              + " or later; this is Java "
              + Runtime.version()
              + " at "
              + System.getProperty("java.home"));
    }
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    home.user().checkCanRun(java);
    Path root = home.root();
    List<String> command = new ArrayList<>(home.user().commandPrefix());
    command.add(java.toString());
    command.add("-Xms" + options.heap());
    command.add("-Xmx" + options.heap());
    command.add("-XX:+UseG1GC");
    command.add("-Xss1m");
    command.add("-Djava.io.tmpdir=" + root.resolve("tmp"));
    command.add("-Des.path.home=" + root);
    command.add("-Des.distribution.type=zip");
    command.add("-Des.java.type=JAVA_HOME");
    command.add("-Dlog4j.shutdownHookEnabled=false");
    command.add("-Dlog4j2.disable.jmx=true");
    command.add("-Dlog4j2.formatMsgNoLookups=true");
    command.add("-Dio.netty.noUnsafe=true");
    command.add("-Dio.netty.noKeySetOptimization=true");
    command.add("-Dio.netty.recycler.maxCapacityPerThread=0");
    command.add("-Djava.locale.providers=CLDR");
    command.add("-Dfile.encoding=UTF-8");
    command.add("-Djava.awt.headless=true");
    command.add("-Djna.nosys=true");
    command.add("-Dorg.apache.lucene.vectorization.upperJavaFeatureVersion=25");
    command.add(
        "-Dorg.elasticsearch.nativeaccess.enableVectorLibrary=" + home.hasDistanceFunctions());
    command.add(
        "--enable-native-access=org.elasticsearch.nativeaccess,org.elasticsearch.foreign,"
            + "org.apache.lucene.core");
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("--illegal-native-access=deny");
    command.add("-XX:+EnableDynamicAgentLoading");
    command.add("-Djdk.attach.allowAttachSelf=true");
    command.add("--patch-module=java.base=" + onlyJar(root.resolve("lib/entitlement-bridge")));
    command.add(
        "--add-exports=java.base/org.elasticsearch.entitlement.bridge="
            + "org.elasticsearch.entitlement,java.logging,java.net.http,java.naming,jdk.net,"
            + "jdk.zipfs,jdk.management.agent");
    if (options.assertions()) {
      command.add("-ea");
    }
    command.addAll(options.jvmArguments());
    command.add("--module-path");
    command.add(root.resolve("lib").toString());
    command.add("--add-modules=jdk.incubator.vector");
    command.add("--add-modules=jdk.net");
    command.add("--add-modules=jdk.management.agent");
    command.add("--add-modules=ALL-MODULE-PATH");
    command.add("-m");
    command.add("org.elasticsearch.server/org.elasticsearch.bootstrap.Elasticsearch");
    return command;
  }

  private static Path onlyJar(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      List<Path> jars = files.filter(file -> file.toString().endsWith(".jar")).toList();
      if (jars.size() != 1) {
        throw new IllegalStateException("expected exactly one jar in " + folder + ": " + jars);
      }
      return jars.get(0);
    }
  }
}
