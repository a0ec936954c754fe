package dev.vamana.tools.node;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.elasticsearch.bootstrap.ServerArgs;
import org.elasticsearch.common.io.stream.BytesStreamOutput;
import org.elasticsearch.common.io.stream.OutputStreamStreamOutput;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.settings.KeyStoreWrapper;
import org.elasticsearch.common.settings.Settings;

/**
 * A started node: a separate process on 127.0.0.1 with entitlements on.
 *
 * <p>The operating system chooses the ports unless the settings name them. The node ends with this
 * JVM, because it watches its standard input, which this JVM holds open. The home of a stopped node
 * can be started again with its data.
 *
 * <p>To run two nodes in one cluster, give the first {@code cluster.initial_master_nodes} (its own
 * {@code node.name}, by default the name of its home folder) and the second {@code
 * discovery.seed_hosts} (the first node's {@link #transportAddress()}). A node without such a
 * setting is a single-node cluster.
 */
public final class RunningNode implements AutoCloseable {

  private static final int LOG_TAIL_LINES = 60;
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(60);

  private final NodeHome home;
  private final Process process;
  private final Path log;
  private URI httpUri;
  private String transportAddress;
  private NodeClient client;

  private RunningNode(NodeHome home, Process process, Path log) {
    this.home = home;
    this.process = process;
    this.log = log;
  }

  /**
   * Starts a node with the defaults of {@link NodeOptions}.
   *
   * @see #start(NodeHome, NodeOptions)
   */
  public static RunningNode start(NodeHome home, Map<String, String> settings, String heap)
      throws IOException {
    NodeOptions options = NodeOptions.defaults().withHeap(heap);
    for (Map.Entry<String, String> setting : settings.entrySet()) {
      options = options.withSetting(setting.getKey(), setting.getValue());
    }
    return start(home, options);
  }

  /**
   * Starts a node and waits until it answers over HTTP and its cluster has the requested health.
   *
   * @param home the node's home; at most one node runs in it at a time
   * @param options settings, heap, and the health to wait for
   * @return the running node; the caller closes it
   * @throws IllegalStateException if the JDK or the user is unsuitable, or the node does not start;
   *     the message has the end of its log
   * @throws IOException if files cannot be written or the process cannot be started
   */
  public static RunningNode start(NodeHome home, NodeOptions options) throws IOException {
    Settings settings = settings(home, options);
    for (String folder : List.of("config", "logs", "tmp")) {
      home.user().letWrite(home.root().resolve(folder));
    }
    for (String setting : List.of("path.data", "path.repo")) {
      for (String folder : settings.getAsList(setting)) {
        home.user().letWrite(Path.of(folder));
      }
    }
    Files.deleteIfExists(home.logs().resolve("http.ports"));
    Files.deleteIfExists(home.logs().resolve("transport.ports"));
    Path log = home.logs().resolve("console.log");
    ProcessBuilder builder =
        new ProcessBuilder(NodeCommand.of(home, options))
            .directory(home.root().toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    builder.environment().put("LIBFFI_TMPDIR", home.root().resolve("tmp").toString());
    builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
    builder.environment().putAll(options.environment());
    RunningNode node = new RunningNode(home, builder.start(), log);
    boolean up = false;
    try {
      node.sendArguments(settings);
      node.awaitHttp(options);
      up = true;
    } finally {
      if (up == false) {
        node.kill();
      }
    }
    return node;
  }

  private static Settings settings(NodeHome home, NodeOptions options) {
    Settings.Builder settings =
        Settings.builder()
            .put("path.home", home.root().toString())
            .put("path.data", home.root().resolve("data").toString())
            .put("path.logs", home.logs().toString())
            .put("node.name", home.root().getFileName().toString())
            .put("node.portsfile", true)
            .put("http.host", "127.0.0.1")
            .put("transport.host", "127.0.0.1")
            .put("http.port", "0")
            .put("transport.port", "0")
            // a nearly full disk must not make indices read-only during a test
            .put("cluster.routing.allocation.disk.threshold_enabled", false);
    boolean alone =
        options.settings().keySet().stream()
            .noneMatch(
                name ->
                    name.startsWith("discovery.") || name.equals("cluster.initial_master_nodes"));
    if (alone) {
      settings.put("discovery.type", "single-node");
    }
    options.settings().forEach(settings::put);
    return settings.build();
  }

  /**
   * Writes the arguments that the server reads from its standard input, and leaves the stream open.
   */
  private void sendArguments(Settings settings) throws IOException {
    try (KeyStoreWrapper secrets = noSecrets()) {
      ServerArgs arguments =
          new ServerArgs(
              false, false, null, secrets, settings, home.root().resolve("config"), home.logs());
      OutputStream in = process.getOutputStream();
      arguments.writeTo(new OutputStreamStreamOutput(in));
      in.flush();
    } catch (IOException e) {
      throw new IllegalStateException("the node did not read its arguments" + logTail(), e);
    }
  }

  /**
   * Makes a keystore without entries from its wire form. {@link KeyStoreWrapper#create} cannot be
   * used: it asks the randomized test framework for randomness if that is on the class path.
   */
  private static KeyStoreWrapper noSecrets() throws IOException {
    try (BytesStreamOutput wire = new BytesStreamOutput()) {
      boolean hasPassword = false;
      int entries = 0;
      boolean closed = false;
      wire.writeInt(KeyStoreWrapper.CURRENT_VERSION);
      wire.writeBoolean(hasPassword);
      wire.writeOptionalByteArray(null);
      wire.writeVInt(entries);
      wire.writeBoolean(closed);
      try (StreamInput in = wire.bytes().streamInput()) {
        return new KeyStoreWrapper(in);
      }
    }
  }

  private void awaitHttp(NodeOptions options) throws IOException {
    long deadline = System.nanoTime() + options.startTimeout().toNanos();
    httpUri = URI.create("http://" + awaitAddress("http.ports", deadline, options));
    transportAddress = awaitAddress("transport.ports", deadline, options);
    client = new NodeClient(httpUri, this::logTail);
    String path = "/_cluster/health?timeout=2s&wait_for_status=" + options.awaitStatus();
    String answer = "";
    while (System.nanoTime() < deadline && process.isAlive()) {
      NodeClient.Response response;
      try {
        response = client.send("GET", path, null, "application/json");
      } catch (IOException notYet) {
        answer = notYet.toString();
        pause();
        continue;
      }
      if (response.status() == 200) {
        return;
      }
      answer = response.body();
      pause();
    }
    throw new IllegalStateException(
        "the node's cluster did not reach health "
            + options.awaitStatus()
            + " within "
            + options.startTimeout()
            + ": "
            + answer
            + logTail());
  }

  private String awaitAddress(String file, long deadline, NodeOptions options) throws IOException {
    Path ports = home.logs().resolve(file);
    while (System.nanoTime() < deadline) {
      // the node moves the complete file into place
      if (Files.exists(ports)) {
        for (String address : Files.readAllLines(ports)) {
          if (address.startsWith("127.0.0.1:")) {
            return address;
          }
        }
      }
      if (process.isAlive() == false) {
        throw new IllegalStateException(
            "the node ended with status " + process.exitValue() + logTail());
      }
      pause();
    }
    throw new IllegalStateException(
        "the node did not answer within " + options.startTimeout() + logTail());
  }

  private static void pause() {
    try {
      Thread.sleep(100);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for a node", e);
    }
  }

  /** The node's address for REST requests, such as {@code http://127.0.0.1:41234}. */
  public URI httpUri() {
    return httpUri;
  }

  /** The node's address for other nodes, such as {@code 127.0.0.1:41235}. */
  public String transportAddress() {
    return transportAddress;
  }

  /** A client of this node; closed with the node. */
  public NodeClient client() {
    return client;
  }

  /** The node's home. */
  public NodeHome home() {
    return home;
  }

  /** The process id of the node. */
  public long pid() {
    return process.pid();
  }

  /** Whether the process is running. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Completes when the process has ended, for any reason. */
  public CompletableFuture<ProcessHandle> onExit() {
    return process.toHandle().onExit();
  }

  /** Everything that the node has logged since its start. */
  public String log() {
    try {
      return new String(Files.readAllBytes(log), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The last lines of the log under a heading, for the end of an error message. */
  public String logTail() {
    Deque<String> tail = new ArrayDeque<>();
    for (String line : (Iterable<String>) log().lines()::iterator) {
      tail.addLast(line);
      if (tail.size() > LOG_TAIL_LINES) {
        tail.removeFirst();
      }
    }
    return "\n--- end of " + log + " ---\n" + String.join("\n", tail) + "\n---";
  }

  /**
   * Stops the node gracefully and waits for its end.
   *
   * @throws IllegalStateException if the node does not end within a minute; it is then killed
   */
  public void stop() {
    boolean ended = end(process.toHandle()::destroy);
    if (ended == false) {
      kill();
      throw new IllegalStateException("the node did not stop within " + STOP_TIMEOUT + logTail());
    }
  }

  /** Kills the node, as a crash would, and waits for its end. */
  public void kill() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    end(process.toHandle()::destroyForcibly);
  }

  private boolean end(Runnable signal) {
    if (client != null) {
      client.close();
    }
    signal.run();
    try {
      return process.waitFor(STOP_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      return true;
    }
  }

  /** Stops the node if it is running. */
  @Override
  public void close() {
    if (process.isAlive()) {
      stop();
    } else if (client != null) {
      client.close();
    }
  }
}
