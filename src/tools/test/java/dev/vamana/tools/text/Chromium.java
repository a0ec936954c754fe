package dev.vamana.tools.text;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** One page of a headless Chromium, driven through its DevTools protocol. */
final class Chromium implements AutoCloseable {

  private static final List<String> NAMES =
      List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");
  private static final long SECONDS = 60;

  private final Process process;
  private final HttpClient http;
  private final WebSocket socket;
  private final BlockingQueue<Map<String, Object>> messages = new LinkedBlockingQueue<>();
  private int lastId;

  private Chromium(Process process, HttpClient http, URI page) {
    this.process = process;
    this.http = http;
    this.socket = http.newWebSocketBuilder().buildAsync(page, new Listener()).join();
  }

  /** The browser on the path, if there is one. */
  static Optional<Path> find() {
    String path = System.getenv("PATH");
    for (String folder : (path == null ? "" : path).split(File.pathSeparator)) {
      for (String name : NAMES) {
        Path program = Path.of(folder, name);
        if (Files.isExecutable(program)) {
          return Optional.of(program);
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Starts the browser with an empty page.
   *
   * @param program that {@link #find} has found
   * @param profile an empty folder
   */
  static Chromium start(Path program, Path profile) throws Exception {
    Process process =
        new ProcessBuilder(
                program.toString(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--window-size=1280,900",
                "--remote-debugging-port=0",
                "--user-data-dir=" + profile,
                "about:blank")
            .redirectErrorStream(true)
            .redirectOutput(profile.resolve("browser.log").toFile())
            .start();
    try {
      HttpClient http = HttpClient.newHttpClient();
      return new Chromium(process, http, pageAddress(http, port(process, profile)));
    } catch (Exception e) {
      end(process);
      throw e;
    }
  }

  private static int port(Process process, Path profile) throws Exception {
    Path file = profile.resolve("DevToolsActivePort");
    long deadline = System.nanoTime() + SECONDS * 1_000_000_000L;
    while (System.nanoTime() < deadline && process.isAlive()) {
      List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
      if (lines.size() >= 2) {
        return Integer.parseInt(lines.get(0));
      }
      process.waitFor(50, TimeUnit.MILLISECONDS);
    }
    throw new IOException(
        "the browser does not start: " + Files.readString(profile.resolve("browser.log")));
  }

  private static URI pageAddress(HttpClient http, int port) throws Exception {
    URI list = URI.create("http://127.0.0.1:" + port + "/json/list");
    String json = http.send(HttpRequest.newBuilder(list).build(), BodyHandlers.ofString()).body();
    for (Object target : JSON.std.listFrom(json)) {
      if (target instanceof Map<?, ?> map && "page".equals(map.get("type"))) {
        return URI.create((String) map.get("webSocketDebuggerUrl"));
      }
    }
    throw new IOException("the browser has no page: " + json);
  }

  /**
   * Opens an address and waits until the page is loaded; the empty page may tell of its end late.
   */
  void open(URI address) throws Exception {
    call("Page.enable", Map.of());
    messages.clear();
    call("Page.navigate", Map.of("url", address.toString()));
    awaitLoad();
    await("document.readyState + ' ' + location.href", "complete " + address);
  }

  /**
   * Waits until an expression has a value, for instance a focus that the page gets when it is
   * drawn.
   *
   * @return the value, or another one after a minute
   */
  Object await(String expression, Object expected) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    Object value = evaluate(expression);
    while (expected.equals(value) == false && System.nanoTime() < deadline) {
      process.waitFor(20, TimeUnit.MILLISECONDS);
      value = evaluate(expression);
    }
    return value;
  }

  /** Types into what has the focus. */
  void type(String text) throws Exception {
    call("Input.insertText", Map.of("text", text));
  }

  /** Presses Enter and waits until the page that comes of it is loaded. */
  void enter() throws Exception {
    messages.clear();
    for (String type : List.of("keyDown", "keyUp")) {
      call(
          "Input.dispatchKeyEvent",
          Map.of(
              "type",
              type,
              "key",
              "Enter",
              "code",
              "Enter",
              "text",
              "\r",
              "windowsVirtualKeyCode",
              13));
    }
    awaitLoad();
  }

  /** Clicks the element of a selector and waits until the page that comes of it is loaded. */
  void click(String selector) throws Exception {
    messages.clear();
    evaluate("document.querySelector(" + JSON.std.asString(selector) + ").click()");
    awaitLoad();
  }

  /** The value of an expression of JavaScript. */
  Object evaluate(String expression) throws Exception {
    Map<String, Object> answer =
        call("Runtime.evaluate", Map.of("expression", expression, "returnByValue", true));
    Map<?, ?> result = (Map<?, ?>) answer.get("result");
    if (answer.containsKey("exceptionDetails")) {
      throw new IOException(expression + ": " + answer.get("exceptionDetails"));
    }
    return result.get("value");
  }

  private Map<String, Object> call(String method, Map<String, Object> parameters) throws Exception {
    int id = ++lastId;
    Map<String, Object> request = new LinkedHashMap<>();
    request.put("id", id);
    request.put("method", method);
    request.put("params", parameters);
    socket.sendText(JSON.std.asString(request), true).join();
    List<Map<String, Object>> events = new ArrayList<>();
    while (true) {
      Map<String, Object> message = next(method);
      if (Integer.valueOf(id).equals(message.get("id"))) {
        messages.addAll(events);
        if (message.get("result") instanceof Map<?, ?> result) {
          Map<String, Object> copy = new LinkedHashMap<>();
          result.forEach((name, value) -> copy.put(name.toString(), value));
          return copy;
        }
        throw new IOException(method + ": " + message);
      }
      events.add(message);
    }
  }

  private void awaitLoad() throws Exception {
    while ("Page.loadEventFired".equals(next("loading").get("method")) == false) {
      continue;
    }
  }

  private Map<String, Object> next(String what) throws Exception {
    Map<String, Object> message = messages.poll(SECONDS, TimeUnit.SECONDS);
    if (message == null) {
      throw new IOException("the browser does not answer: " + what);
    }
    return message;
  }

  @Override
  public void close() throws Exception {
    socket.abort();
    http.shutdownNow();
    end(process);
  }

  private static void end(Process process) throws InterruptedException {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    process.waitFor(SECONDS, TimeUnit.SECONDS);
  }

  /** Puts the browser's messages together from their parts. */
  private final class Listener implements WebSocket.Listener {
    private final StringBuilder text = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
      text.append(part);
      if (last) {
        try {
          messages.add(JSON.std.mapFrom(text.toString()));
        } catch (IOException e) {
          messages.add(Map.of("method", "unreadable", "params", e.toString()));
        }
        text.setLength(0);
      }
      from.request(1);
      return null;
    }
  }
}
