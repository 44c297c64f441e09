import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import Ajv from "ajv";
import packageJson from "../../package.json" with { type: "json" };
import { brewFormula, nixRelease } from "../../packaging/formulas.ts";
import { costOf } from "../../src/cli/doctor/costs.ts";
import { settings } from "../../src/config/settings/settings.ts";
import figures from "../../src/protocol/network/network-figures.json" with { type: "json" };
import { documentText, ROOT } from "../support/documents.ts";

const read = (path: string) => Bun.file(join(ROOT, "packaging", path)).text();
// biome-ignore lint/suspicious/noExplicitAny: files of any shape
const yaml = async (path: string): Promise<any> => Bun.YAML.parse(await read(path));

describe("templates", () => {
  test("mount a volume at /data, ask the node and end it in its own time", async () => {
    const railway = JSON.parse(await read("templates/railway.json"));
    expect(railway.deploy).toMatchObject({ healthcheckPath: "/health", requiredMountPath: "/data" });
    // biome-ignore lint/suspicious/noExplicitAny: a file of any shape
    const fly = Bun.TOML.parse(await read("templates/fly.toml")) as any;
    expect(fly.mounts).toEqual([{ source: "data", destination: "/data", initial_size: "10gb" }]);
    expect(fly.http_service).toMatchObject({ internal_port: 8080, checks: [{ path: "/ready" }] });
    const [render] = (await yaml("templates/render.yaml")).services;
    expect(render).toMatchObject({
      healthCheckPath: "/health",
      numInstances: 1,
      disk: { mountPath: "/data" },
    });
    const { svc } = (await yaml("templates/coolify.yaml")).services;
    expect(svc).toMatchObject({ volumes: ["svc:/data"], read_only: true, cap_drop: ["ALL"] });
    for (const seconds of [fly.kill_timeout, `${render.maxShutdownDelaySeconds}s`, svc.stop_grace_period])
      expect(seconds).toBe("30s");
  });

  test("have no secret, and only settings that exist", async () => {
    const defaults = Bun.TOML.parse(await Bun.file(join(ROOT, "src/config/defaults.toml")).text());
    const known = new Set(
      Object.entries(defaults as Record<string, object>).flatMap(([section, values]) =>
        Object.keys(values).map((key) => `SVC_${section}_${key}`.toUpperCase()),
      ),
    );
    for (const file of ["templates/fly.toml", "templates/render.yaml", "templates/coolify.yaml"]) {
      const text = await read(file);
      const used = [...text.matchAll(/\bSVC_[A-Z0-9_]+/g)].map(([name]) => name);
      expect(used.filter((name) => !known.has(name))).toEqual([]);
    }
  });
});

describe("the chart", () => {
  test("refuses every secret among its settings, and nothing else", async () => {
    const helpers = await read("helm/svc/templates/_helpers.tpl");
    const [, pattern = ""] = /regexMatch "(.+?)" \$key/.exec(helpers) ?? [];
    for (const { key, name, secret } of settings)
      expect([key, new RegExp(pattern).test(name)]).toEqual([key, secret === "text"]);
  });

  test("has the version of the program, and default values that its schema accepts", async () => {
    expect(await yaml("helm/svc/Chart.yaml")).toMatchObject({
      version: packageJson.version,
      appVersion: packageJson.version,
    });
    const validate = new Ajv({ strict: false }).compile(
      JSON.parse(await read("helm/svc/values.schema.json")),
    );
    const defaults = await yaml("helm/svc/values.yaml");
    expect([validate(defaults), validate.errors]).toEqual([true, null]);
    for (const name of ["one-node", "cluster", "public"]) {
      const merged = { ...defaults, ...(await yaml(`helm/cases/${name}.yaml`)) };
      expect([name, validate(merged), validate.errors]).toEqual([name, true, null]);
    }
    expect(validate({ ...defaults, replica: 2 })).toBe(false);
  });
});

test("the unit of NixOS is that of the packages", async () => {
  const module = await read("nix/module.nix");
  const [, service = ""] = /\[Service\]\n([\s\S]*?)\n\[Install\]/.exec(await read("svc.service")) ?? [];
  const own = /^(?:ExecStart|Environment|ConfigurationDirectory)$/;
  for (const [, name = "", value] of service.matchAll(/^(\w+)=(.*)$/gm)) {
    if (own.test(name)) continue;
    const [, given = ""] = new RegExp(`^ +${name} = (.*);$`, "m").exec(module) ?? [];
    expect([name, given.includes(`"${value}"`)]).toEqual([name, true]);
  }
});

test.skipIf(Bun.which("nix-instantiate") === null)("Nix parses the flake and the module", () => {
  for (const file of ["flake.nix", "module.nix"]) {
    const { exitCode, stderr } = Bun.spawnSync(
      ["nix-instantiate", "--parse", join(ROOT, "packaging/nix", file)],
      {
        env: { PATH: process.env.PATH ?? "", HOME: "/nonexistent", NIX_REMOTE: "dummy://" },
      },
    );
    expect([file, exitCode, exitCode === 0 ? "" : stderr.toString()]).toEqual([file, 0, ""]);
  }
});

describe("formulas", () => {
  const hash = "ab".repeat(32);
  const archives = {
    downloadUrl: "https://git.example/releases/v1/",
    hashes: new Map(
      ["linux-x64", "linux-arm64", "darwin-arm64", "linux-x64-musl"].map((name) => [name, hash]),
    ),
  };

  test("Homebrew gets each archive with its hash, and no platform without one", () => {
    const formula = brewFormula(archives, "https://git.example/svc");
    const urls = [...formula.matchAll(/url "(\S+)"\n +sha256 "([0-9a-f]{64})"/g)].map(([, url, sha]) => [
      url,
      sha,
    ]);
    expect(urls).toEqual(
      ["darwin-arm64", "linux-arm64", "linux-x64"].map((target) => [
        `https://git.example/releases/v1/svc-${packageJson.version}-${target}.tar.gz`,
        hash,
      ]),
    );
    expect(() => brewFormula(archives, 'https://x"#{system("id")}')).toThrow("not a plain text");
  });

  test.skipIf(Bun.which("ruby") === null)("Ruby accepts the formula", async () => {
    const child = Bun.spawn(["ruby", "-c"], {
      stdin: new Blob([brewFormula(archives, "https://git.example/svc")]),
      stdout: "pipe",
    });
    expect([await child.exited, (await child.stdout.text()).trim()]).toEqual([0, "Syntax OK"]);
  });

  test("Nix gets the same hashes in its own form", () => {
    const { version, archives: listed } = JSON.parse(nixRelease(archives));
    expect(version).toBe(packageJson.version);
    expect(Object.keys(listed)).toEqual(["x86_64-linux", "aarch64-linux", "aarch64-darwin"]);
    expect(listed["x86_64-linux"].hash).toBe(`sha256-${Buffer.from(hash, "hex").toString("base64")}`);
  });
});

test("the table of plans has the disk and memory of the estimator", () => {
  const [, table = ""] =
    /<!-- plans -->([\s\S]*?)<!-- \/plans -->/.exec(documentText("docs/operate/clouds.md")) ?? [];
  const { network, scopes } = figures;
  const rows = [...scopes, { name: "the whole network: 1,400,000", ...network }];
  const listed = [...table.matchAll(/^\| ([^|]+?) +\| (\d+) GB +\| (\d+) GB +\|(.*)$/gm)];
  expect(listed.map(([, name]) => name)).toEqual(rows.map(({ name }) => name));
  for (const [at, [, name, disk, memory, plans = ""]] of listed.entries()) {
    const scope = rows[at] ?? network;
    // As much as the filling takes, in whole gigabytes, and room for the state.
    const needed = Math.ceil(costOf(scope).bytesWhileFilling / 1e9 + 0.2);
    expect([name, Number(disk), memory]).toEqual([name, needed, "1"]);
    expect([name, plans.includes(`\`persistence.size\` ${needed}Gi`)]).toEqual([name, true]);
    for (const [, size = ""] of plans.matchAll(/volume (\d+) GB/g))
      expect(Number(size)).toBeGreaterThanOrEqual(needed);
  }
});
