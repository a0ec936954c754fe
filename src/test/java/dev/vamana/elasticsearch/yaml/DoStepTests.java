package dev.vamana.elasticsearch.yaml;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** What a {@code do} sends, and which answers it accepts. */
public class DoStepTests {
  private CannedNode node;

  @Before
  public void start() throws IOException {
    node = new CannedNode();
  }

  @After
  public void stop() {
    node.close();
  }

  private void runs(String steps) throws IOException {
    node.run(node.execution(InjectedSettings.NONE), steps);
  }

  private void fails(String steps) {
    assertThrows(steps, AssertionError.class, () -> runs(steps));
  }

  /** Fails without a request. */
  private void isRefused(String steps) {
    int before = node.requests();
    assertThrows(steps, IllegalArgumentException.class, () -> runs(steps));
    assertEquals(steps, before, node.requests());
  }

  private void assertSent(String method, String uri, String contentType, String body) {
    assertEquals(new CannedNode.Received(method, uri, contentType, body), node.last());
  }

  @Test
  public void testPathsAndMethods() throws IOException {
    runs("[ do: { search: {} } ]");
    assertSent("GET", "/_search?error_trace=true", null, "");
    runs("[ do: { search: { index: [ a, 'b c' ], size: 3, body: { k: 1.5 } } } ]");
    assertSent(
        "POST", "/a,b%20c/_search?size=3&error_trace=true", "application/json", "{\"k\":1.5}");
    runs("[ do: { index: { index: a, id: 'x/y', error_trace: false, body: {} } } ]");
    assertSent("PUT", "/a/_doc/x%2Fy?error_trace=false", "application/json", "{}");
    runs("[ do: { index: { index: a, body: {} } } ]");
    assertSent("POST", "/a/_doc?error_trace=true", "application/json", "{}");
    runs("[ do: { vamana.nodes_stats: { nodeId: n, timeout: 1s } } ]");
    assertSent("GET", "/_vamana/nodes/n/stats?timeout=1s&error_trace=true", null, "");
  }

  @Test
  public void testUnknownCallsAreRefused() {
    isRefused("[ do: { no.such.api: {} } ]");
    isRefused("[ do: { search: { no_such: 1 } } ]");
    isRefused("[ do: { search: { id: 1 } } ]");
    isRefused("[ do: { index: { id: 1, body: {} } } ]");
    isRefused("[ do: { index: { index: '', body: {} } } ]");
    isRefused("[ do: { index: { index: a } } ]");
    isRefused("[ do: { vamana.nodes_stats: { body: {} } } ]");
    isRefused("[ do: { search: {}, count: {} } ]");
    isRefused("[ do: {} ]");
    isRefused("[ do: search ]");
    isRefused("[ do: { search: } ]");
    isRefused("[ do: { search: { size: { a: 1 } } } ]");
    isRefused("[ do: { search: { body: 3 } } ]");
    isRefused("[ do: { search: { body: [ 3 ] } } ]");
    isRefused("[ do: { catches: missing, search: {} } ]");
    isRefused("[ do: { catch: lost, search: {} } ]");
    isRefused("[ do: { catch: [ missing ], search: {} } ]");
  }

  @Test
  public void testWrongParametersCanBeExpected() throws IOException {
    runs("[ do: { catch: param, search: { no_such: 1 } } ]");
    runs("[ do: { catch: param, index: { index: a } } ]");
    assertEquals(0, node.requests());
    fails("[ do: { catch: param, search: {} } ]");
    isRefused("[ do: { catch: param, no.such.api: {} } ]");
  }

  @Test
  public void testBodies() throws IOException {
    String ndjson = "application/x-ndjson";
    String json = "application/json";
    runs("[ do: { bulk: { body: [ { index: { _id: 1 } }, '{\"a\":  1}', { b: ~ } ] } } ]");
    assertEquals("{\"index\":{\"_id\":1}}\n{\"a\":1}\n{\"b\":null}\n", node.last().body());
    assertEquals(ndjson, node.last().contentType());
    runs("[ do: { bulk: { body: '{\"a\": 1} {\"b\": [2]}' } } ]");
    assertEquals("{\"a\":1}\n{\"b\":[2]}\n", node.last().body());
    runs("[ do: { bulk: { body: [ 'no json', { a: 1 } ] } } ]");
    assertEquals("no json\n{\"a\":1}\n", node.last().body());
    runs("[ do: { bulk: { body: 'no newline' } } ]");
    assertEquals("no newline", node.last().body());
    runs("[ do: { search: { body: '{\"a\": 1, \"a\": 2' } } ]");
    assertEquals("{\"a\": 1, \"a\": 2", node.last().body());
    assertEquals(json, node.last().contentType());
    runs("[ do: { search: { body: '{\"spaces\":   1}' } } ]");
    assertEquals("{\"spaces\":   1}", node.last().body());
  }

  @Test
  public void testHeaders() throws IOException {
    runs("[ do: { headers: { content-type: application/yaml }, search: { body: { a: 1 } } } ]");
    assertEquals("application/yaml", node.last().contentType());
    assertEquals("---\na: 1\n", node.last().body());
    runs("[ do: { headers: { Content-Type: application/json }, bulk: { body: [ { a: 1 } ] } } ]");
    assertEquals("application/json", node.last().contentType());
    isRefused("[ do: { headers: Accept, search: {} } ]");
    isRefused("[ do: { headers: { Content-Type: no/such }, search: { body: {} } } ]");
  }

  @Test
  public void testSuccessIsExpected() throws IOException {
    node.answer("/_search", 404, "{}");
    fails("[ do: { search: {} } ]");
    fails("[ do: { search: { ignore: 400 } } ]");
    runs("[ do: { search: { ignore: 404 } } ]");
    runs("[ do: { search: { ignore: [ 400, 404 ] } } ]");
    node.answer("/a/_doc/1", 404, "");
    runs("[ do: { exists: { index: a, id: 1 } }, is_false: '' ]");
    fails("[ do: { exists: { index: a, id: 1 } }, is_true: '' ]");
    node.answer("/a/_doc/1", 200, "");
    runs("[ do: { exists: { index: a, id: 1 } }, is_true: '' ]");
    fails("[ do: { exists: { index: a, id: 1 } }, is_false: '' ]");
  }

  @Test
  public void testErrorsThatAreExpected() throws IOException {
    int[] statuses = {400, 401, 403, 404, 408, 409, 410, 503, 500, 429, 413};
    String[] names = {
      "bad_request",
      "unauthorized",
      "forbidden",
      "missing",
      "request_timeout",
      "conflict",
      "gone",
      "unavailable",
      "request",
      "request",
      "request"
    };
    for (int i = 0; i < statuses.length; i++) {
      node.answer("/_search", statuses[i], "{\"error\": {\"reason\": \"so it is\"}}");
      for (String name : names) {
        boolean fits =
            name.equals(names[i]) || (name.equals("request") && names[i].equals("unavailable"));
        String step = "[ do: { catch: " + name + ", search: {} } ]";
        if (fits) {
          runs(step);
        } else {
          fails(step);
        }
      }
      runs("[ do: { catch: /so.*is/, search: {} }, match: { error.reason: so it is } ]");
      fails("[ do: { catch: /so.*was/, search: {} } ]");
    }
    node.answer("/_search", 200, "{\"error\": \"so it is\"}");
    fails("[ do: { catch: missing, search: {} } ]");
    fails("[ do: { catch: request, search: {} } ]");
    fails("[ do: { catch: /so.*is/, search: {} } ]");
    node.answer("/_search", 400, "{}");
    fails("[ do: { catch: /.*/, search: {} } ]");
  }

  @Test
  public void testWarnings() throws IOException {
    node.answer("/_search", 200, "{}", "old: \\\"a\\\"", "older");
    fails("[ do: { search: {} } ]");
    fails("[ do: { warnings: [ 'old: \"a\"' ], search: {} } ]");
    fails("[ do: { warnings: [ old, older ], search: {} } ]");
    fails("[ do: { warnings: [ 'old: \"a\"', older, oldest ], search: {} } ]");
    fails("[ do: { warnings_regex: [ 'old.*', 'oldest' ], search: {} } ]");
    fails("[ do: { allowed_warnings: [ older ], search: {} } ]");
    fails("[ do: { allowed_warnings_regex: [ 'old' ], search: {} } ]");
    runs("[ do: { warnings: [ older, 'old: \"a\"' ], search: {} } ]");
    runs("[ do: { warnings: [ older ], allowed_warnings_regex: [ 'old:.*' ], search: {} } ]");
    runs("[ do: { warnings_regex: [ 'old:.*', 'older' ], search: {} } ]");
    runs("[ do: { allowed_warnings_regex: [ 'old.*', 'none' ], search: {} } ]");
    isRefused("[ do: { warnings: older, search: {} } ]");
    node.answer("/_search", 400, "{}", "older");
    runs("[ do: { catch: bad_request, search: {} } ]");
    runs("[ do: { catch: bad_request, warnings: [ older ], search: {} } ]");
    fails("[ do: { catch: bad_request, warnings: [ oldest ], search: {} } ]");
  }

  @Test
  public void testKeptValues() throws IOException {
    node.answer("/_search", 200, "{\"id\": \"x\", \"n\": 7, \"m\": {\"k.1\": [\"x\"]}}");
    runs(
        """
        - do: { search: {} }
        - set: { id: id, n: number, m._arbitrary_key_: key, m: whole }
        - match: { $id: x }
        - match: { $body.m.k\\.1.0: x }
        - match: { m.$key.0: x }
        - match: { m: $whole }
        - match: { m: { $key: [ "${id}" ] } }
        - match: { n: $number }
        - do: { index: { index: "i-${id}", id: $number, body: { $id: $number, l: [ "a${id}b" ] } } }
        """);
    fails("[ do: { search: {} }, set: { id: id }, match: { n: $id } ]");
    fails("[ do: { search: {} }, set: { absent: id } ]");
    assertThrows(
        IllegalArgumentException.class, () -> runs("[ do: { search: {} }, match: { $no: 1 } ]"));
    assertThrows(IllegalArgumentException.class, () -> runs("[ match: { n: 7 } ]"));
    isRefused("[ set: { id: 3 } ]");
    isRefused("[ set: {} ]");
  }

  @Test
  public void testKeptValuesInABody() throws IOException {
    node.answer("/_search", 200, "{\"id\": \"x\", \"n\": 7}");
    runs(
        """
        - do: { search: {} }
        - set: { id: id, n: n }
        - do: { search: { body: '{"$id": "$n", "text": "<${id}>"}' } }
        """);
    assertEquals("{\"x\":7,\"text\":\"<x>\"}", node.last().body());
  }

  @Test
  public void testTransformations() throws IOException {
    node.answer("/_search", 200, "{\"user\": \"me\", \"word\": \"secret\"}");
    runs(
        """
        - do: { search: {} }
        - transform_and_set: { login: "#base64EncodeCredentials(user,word)" }
        - match: { $login: bWU6c2VjcmV0 }
        """);
    isRefused("[ transform_and_set: { login: '#rot13(user)' } ]");
  }

  @Test
  public void testAnswersThatAreText() throws IOException {
    node.answerText("/_cat/indices", "green  open\n");
    runs("[ do: { cat.indices: {} }, match: { $body: '/green \\s+ open \\n $/' } ]");
    runs("[ do: { cat.indices: {} }, length: { $body: 12 } ]");
    fails("[ do: { cat.indices: {} }, match: { $body: '/red/' } ]");
    fails("[ do: { cat.indices: {} }, match: { status: green } ]");
    node.answerText("/_cat/indices", "");
    runs("[ do: { cat.indices: {} }, match: { $body: '' } ]");
    fails("[ do: { cat.indices: {} }, match: { $body: null } ]");
  }

  @Test
  public void testNodeSelectors() throws IOException {
    int port = node.client().base().getPort();
    node.answer(
        "/_nodes/os,http,plugins",
        200,
        """
        {"nodes": {"a": {"version": "9.5.3", "attributes": {"testattr": "test"},
         "http": {"publish_address": "127.0.0.1:%d"}, "os": {"pretty_name": "Debian"}}}}
        """
            .replace("%d", String.valueOf(port)));
    runs("[ do: { node_selector: { version: ' 9.0.0 - ' }, search: {} } ]");
    runs("[ do: { node_selector: { attribute: { testattr: test } }, search: {} } ]");
    assertTrue(node.last().uri(), node.last().uri().startsWith("/_search"));
    String other = "[ do: { node_selector: { version: ' - 9.0.0' }, search: {} } ]";
    assertThrows(IllegalArgumentException.class, () -> runs(other));
    String none = "[ do: { node_selector: { attribute: { testattr: no } }, search: {} } ]";
    assertThrows(IllegalArgumentException.class, () -> runs(none));
    isRefused("[ do: { node_selector: { version: new }, search: {} } ]");
    isRefused("[ do: { node_selector: { name: a }, search: {} } ]");
    isRefused("[ do: { node_selector: {}, search: {} } ]");
  }
}
