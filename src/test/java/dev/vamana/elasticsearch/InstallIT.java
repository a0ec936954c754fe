package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.node.NodeHome;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.elasticsearch.Build;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.entitlement.runtime.policy.Policy;
import org.elasticsearch.entitlement.runtime.policy.PolicyUtils;
import org.elasticsearch.plugins.PluginDescriptor;
import org.elasticsearch.plugins.PluginsUtils;
import org.junit.BeforeClass;
import org.junit.Test;

/**
 * Checks of a zip by {@code elasticsearch-plugin install}, through the classes of the server that
 * it calls; the command itself is in the distribution only.
 */
public class InstallIT {

  /** Classes of the server that log cannot be loaded before. */
  @BeforeClass
  public static void startLogging() {
    LogConfigurator.configureESLogging();
  }

  @Test
  public void testZipPassesTheInstallersChecks() throws IOException {
    NodeHome home = PluginNode.home("install");
    try {
      Path plugin = home.root().resolve("plugins").resolve("vamana");
      PluginDescriptor descriptor = PluginDescriptor.readFromProperties(plugin);
      PluginsUtils.verifyCompatibility(descriptor);
      assertEquals("vamana", descriptor.getName());
      assertEquals(Build.current().version(), descriptor.getElasticsearchVersion());
      assertEquals(List.of(), descriptor.getExtendedPlugins());
      Path candidate = Files.move(plugin, home.root().resolve("tmp").resolve("candidate"));
      PluginsUtils.preInstallJarHellCheck(
          descriptor,
          candidate,
          home.root().resolve("plugins"),
          home.root().resolve("modules"),
          jars(home.root().resolve("lib")));
      try (Stream<Path> files = Files.list(candidate)) {
        // folders mean settings and commands to the installer, other names are refused
        assertTrue(files.allMatch(Files::isRegularFile));
      }
      Policy policy = PolicyUtils.parsePolicyIfExists("vamana", candidate, true);
      // the entitlements that README.md names
      assertEquals(
          Set.of(
              "load_native_libraries",
              "manage_threads",
              "files [READ_WRITE] <DATA>/vamana",
              "files [READ] <CONFIG>/<vamana.gpu.kernels.nvrtc>"),
          PolicyUtils.getEntitlementsDescriptions(policy));
    } finally {
      home.delete();
    }
  }

  private static Set<URL> jars(Path lib) throws IOException {
    Set<URL> urls = new HashSet<>();
    try (Stream<Path> files = Files.list(lib)) {
      for (Path jar : files.filter(file -> file.toString().endsWith(".jar")).toList()) {
        urls.add(jar.toRealPath().toUri().toURL());
      }
    }
    return urls;
  }
}
