import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { startCluster, until } from "../support/cluster.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { composedSettings, readComposition } from "../support/compositions.ts";
import { documentExample } from "../support/documents.ts";
import { IS_LONG } from "../support/long.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import { startNode, tempDir } from "../support/program.ts";

function isMissing(program: string): boolean {
  return Bun.which(program) === null;
}

function refusalOf(command: string[], cwd: string): string {
  const ran = Bun.spawnSync(command, { cwd, stdout: "ignore", stderr: "pipe" });
  return ran.exitCode === 0 ? "" : ran.stderr.toString();
}

test("the settings of a cluster are valid", () => {
  const toml = documentExample("cluster settings");
  const { config } = loadConfig({
    argvFlags: {},
    env: { SVC_CONFIG_FILE: "/c.toml", SVC_STATE_PASSWORD_FILE: "/password" },
    readFile: (path) => (path === "/c.toml" ? toml : path === "/password" ? "secret\n" : undefined),
    cwd: "/",
  });
  expect([config.state.password, config.http.drain_delay_secs]).toEqual(["secret", 5]);
});

test.skipIf(isMissing("caddy"))("Caddy accepts the balancer", async () => {
  using dir = tempDir();
  await Bun.write(join(dir.path, "Caddyfile"), documentExample("balancer Caddyfile"));
  expect(refusalOf(["caddy", "adapt", "--adapter", "caddyfile", "--config", "Caddyfile"], dir.path)).toBe("");
});

test.skipIf(isMissing("nginx"))("nginx accepts the balancer", async () => {
  using dir = tempDir();
  // Without TLS, for which the documented server has a test of its own.
  const server = documentExample("balancer nginx").replace(/listen 443 ssl;|ssl_\w+ +\S+;/g, "");
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${dir.path}/${name};`,
  );
  const config = `pid ${dir.path}/pid; error_log stderr; events {} http { access_log off; ${paths.join(" ")} ${server} }`;
  await Bun.write(join(dir.path, "nginx.conf"), config);
  expect(refusalOf(["nginx", "-t", "-c", `${dir.path}/nginx.conf`], dir.path)).toBe("");
});

test("the composition has two nodes whose variables are settings", async () => {
  const { services } = await readComposition("compose.postgres.yaml");
  const nodes = Object.entries(services).flatMap(([name, node]) => (name.startsWith("node-") ? [node] : []));
  expect(nodes).toHaveLength(2);
  const ids: string[] = [];
  for (const { environment = {} } of nodes) {
    const { SVC_UPSTREAM_URL: _, ...env } = environment;
    const readFile = (path: string) => (path === "/run/secrets/postgres-password" ? "secret" : undefined);
    const { config } = loadConfig({ argvFlags: {}, env, readFile, cwd: "/" });
    expect(config.state.password).toBe("secret");
    ids.push(config.node.id);
  }
  expect(ids).toEqual(["node-a", "node-b"]);
});

describe.skipIf(!HAS_POSTGRES)("two nodes", () => {
  test("start by the documented commands and the composition, with a role that owns nothing but its database", async () => {
    await using cluster = await startCluster({ seed: "the documented commands", command: compiledProgram });
    const lines = documentExample("two nodes").split("\n");
    const role = `svc_${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
    const renamed = (text: string) => text.replace(/\bsvc\b/g, role);
    const statements = [...(lines[1] ?? "").matchAll(/-c "([^"]+)"/g)].map(([, sql = ""]) => sql);
    expect(documentExample("role").replaceAll(";", "").split("\n")).toEqual(statements);
    for (const sql of statements) await cluster.database.query(renamed(sql));
    const [, url = ""] = /SVC_STATE_URL=(\S+)/.exec(lines[2] ?? "") ?? [];
    const { host } = new URL(cluster.database.url);
    const env = {
      SVC_STATE_URL: renamed(url).replace("127.0.0.1", host),
      SVC_UPSTREAM_URL: /upstream\.url=(\S+)/.exec(cluster.argsOf("x").join(" "))?.[1] ?? "",
      // The scripted network has no validators.
      SVC_TRUST_LEVEL: "node",
    };
    expect(lines[2]).toContain("SVC_UPSTREAM_URL=");
    using dir = tempDir();
    const composedDir = join(dir.path, "composed");
    const password = join(dir.path, "postgres-password");
    await Bun.write(password, decodeURIComponent(new URL(env.SVC_STATE_URL).password));
    const composed = await composedSettings("compose.postgres.yaml", "node-a", {
      "svc@postgres:5432/svc": `${role}@${host}/${role}`,
      "/run/secrets/postgres-password": password,
      "set it to the node to follow": env.SVC_UPSTREAM_URL,
      "0.0.0.0": "127.0.0.1",
      "/data": composedDir,
    });
    const commands = lines
      .slice(3, 5)
      .map((line) => /^svc --data-dir (\S+) --port \d+ (.*) --set hub.port=0 serve &$/.exec(line) ?? []);
    // The second command differs only by its names, so the suite starts the first.
    const named = commands.map((parts) =>
      parts.slice(1).map((part) => part.replace(/\b[ab]$/, "x").replace(/=[ab] /, "=x ")),
    );
    expect(named[1]).toEqual(named[0]);
    const nodes = await Promise.all([
      startNode({
        command: compiledProgram,
        dataDir: composedDir,
        env: { ...composed, SVC_TRUST_LEVEL: "node" },
      }),
      ...commands.slice(0, IS_LONG ? 2 : 1).map(([, name = "", options = ""]) =>
        startNode({
          command: compiledProgram,
          dataDir: join(dir.path, name),
          args: [...options.split(" "), "--set", "hub.port=-1"],
          env,
        }),
      ),
    ]);
    try {
      for (const { url } of nodes)
        await until(async () => (await fetch(`${url}/v2/svc/user?fid=3`)).ok, "it serves a user");
      await until(async () => {
        const status = await (await fetch(`${nodes[0]?.url}/status`)).json();
        return (status as { nodes: { alive: number } }).nodes.alive === nodes.length;
      }, "all are there");
      // A container that is not ready yet is unhealthy, so the check of the composition is asked again, too.
      await until(async () => {
        const check = Bun.spawn([...compiledProgram, "healthcheck", nodes[0].url], {
          cwd: dir.path,
          stderr: "ignore",
        });
        return (await check.exited) === 0;
      }, "the composed node is healthy");
    } finally {
      await Promise.all(nodes.map((node) => node.stop()));
      await cluster.database.query(`DROP DATABASE ${role}`);
      await cluster.database.query(`DROP ROLE ${role}`);
    }
  }, 180_000);
});

test("the documented addresses are those of the nodes that the balancer calls", () => {
  const addresses = [...documentExample("pg_hba").matchAll(/(\d+\.){3}\d+/g)].map(([address]) => address);
  expect(addresses).toHaveLength(2);
  for (const address of addresses) {
    expect(documentExample("balancer Caddyfile")).toContain(`${address}:8080`);
    expect(documentExample("balancer nginx")).toContain(`${address}:8080`);
  }
});
