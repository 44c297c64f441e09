import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type ComposedService, readComposition } from "../support/compositions.ts";
import { ROOT } from "../support/documents.ts";

const FILES = ["compose.yaml", "compose.postgres.yaml"] as const;
/** What the operator makes before the first start, as the comments of the files say. */
const BY_HAND = ["./snapchain", "./grafana-password", "./postgres-password"];

/** The command of Docker Compose 2, as a plugin or by itself; undefined where it is not installed. */
function dockerCompose(): readonly string[] | undefined {
  return [["docker", "compose"], ["docker-compose"]].find(([tool = "", ...rest]) => {
    if (!Bun.which(tool)) return false;
    const { exitCode, stdout } = Bun.spawnSync([tool, ...rest, "version", "--short"]);
    return exitCode === 0 && /^v?[2-9]/.test(stdout.toString());
  });
}
const compose = dockerCompose();

describe.each(FILES)("%s", (file) => {
  test("mounts files that exist, and uses volumes, configs and secrets that it names", async () => {
    const { services, volumes, configs = {}, secrets = {} } = await readComposition(file);
    const isThere = (path: string) => BY_HAND.includes(path) || existsSync(join(ROOT, path));
    for (const service of Object.values<ComposedService>(services)) {
      for (const [source = ""] of (service.volumes ?? []).map((mount) => mount.split(":")))
        expect([source, source.startsWith("./") ? isThere(source) : source in volumes]).toEqual([
          source,
          true,
        ]);
      for (const { source } of service.configs ?? []) expect(Object.keys(configs)).toContain(source);
      for (const source of service.secrets ?? []) expect(Object.keys(secrets)).toContain(source);
    }
    for (const { file: secret } of Object.values(secrets)) expect(BY_HAND).toContain(secret);
    const text = await Bun.file(join(ROOT, file)).text();
    for (const secret of Object.keys(secrets)) expect(text).toContain(`openssl rand -hex 24 > ${secret}`);
  });

  test("runs each node from the image of the Dockerfile, which migrates, without root and with only its volume", async () => {
    const { services } = await readComposition(file);
    const nodes = Object.entries<ComposedService>(services).filter(([name]) => /^(svc|node-.)$/.test(name));
    expect(nodes.length).toBe(file === "compose.yaml" ? 1 : 2);
    for (const [, node] of nodes) {
      expect(node).toMatchObject({
        build: ".",
        read_only: true,
        tmpfs: ["/tmp"],
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
        volumes: [expect.stringMatching(/^[\w-]+:\/data$/)],
      });
      for (const own of ["command", "entrypoint", "user", "privileged"]) expect(node).not.toHaveProperty(own);
    }
    expect(await Bun.file(join(ROOT, "Dockerfile")).text()).toMatch(
      /^ARG RUN_AS=65532:65532$.*^USER \$RUN_AS$.*^CMD \["serve", "--migrate"\]$/ms,
    );
  });

  test.skipIf(compose === undefined)("is accepted by Docker Compose with each profile", async () => {
    const { services } = await readComposition(file);
    const all = Object.values(services).flatMap((service) => service.profiles ?? []);
    const profiles = all.length === 0 ? [[]] : [[], all];
    for (const names of profiles) {
      const flags = names.flatMap((name) => ["--profile", name]);
      const env = {
        PATH: process.env.PATH ?? "",
        HOME: process.env.HOME ?? "/",
        UPSTREAM_URL: "http://127.0.0.1:1",
      };
      const asked = [...(compose ?? []), "-f", file, ...flags, "config", "--services"];
      const { exitCode, stdout, stderr } = Bun.spawnSync(asked, { cwd: ROOT, env });
      const expected = Object.entries(services)
        .filter(([, service]) => (service.profiles ?? []).every((name) => names.includes(name)))
        .map(([name]) => name);
      expect([exitCode, stderr.toString(), stdout.toString().trim().split("\n").sort()]).toEqual([
        0,
        "",
        expected.sort(),
      ]);
    }
  });
});
