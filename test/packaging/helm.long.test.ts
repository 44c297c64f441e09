import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGenerator } from "ts-json-schema-generator";
import { ROOT } from "../support/documents.ts";
import { keptDirectory } from "../support/kept-files.ts";
import { IS_LONG } from "../support/long.ts";

/** Built once from the module proxy of Go. */
const TOOLS = ["helm.sh/helm/v3/cmd/helm@v3.22.0", "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0"];
/** The published types of Kubernetes, from which the schemas are made that kubeconform checks with. */
const TYPES = "kubernetes-types@1.30.0";
const KINDS = [
  ["apps/v1", "StatefulSet"],
  ["core/v1", "Service"],
  ["core/v1", "ConfigMap"],
  ["policy/v1", "PodDisruptionBudget"],
  ["networking/v1", "Ingress"],
  ["networking/v1", "NetworkPolicy"],
] as const;
/** What the chart uses of the kind of the operator of Prometheus. */
const SERVICE_MONITOR = {
  type: "object",
  required: ["apiVersion", "kind", "metadata", "spec"],
  properties: {
    spec: {
      type: "object",
      additionalProperties: false,
      required: ["selector", "endpoints"],
      properties: {
        selector: { type: "object", required: ["matchLabels"] },
        endpoints: {
          type: "array",
          items: {
            type: "object",
            additionalProperties: false,
            properties: {
              port: { type: "string" },
              path: { type: "string" },
              interval: { type: "string", pattern: "^[0-9]+(s|m)$" },
              relabelings: { type: "array" },
            },
          },
        },
      },
    },
  },
};
const isThere = IS_LONG && Bun.which("go") !== null;
const CHART = join(ROOT, "packaging/helm/svc");
const CASES = join(ROOT, "packaging/helm/cases");
let bin = "";
let schemas = "";

beforeAll(async () => {
  if (!isThere) return;
  bin = await keptDirectory("helm-tools", async (into) => {
    const env = { ...process.env, GOBIN: into, GOFLAGS: "-mod=mod" };
    for (const tool of TOOLS) {
      const go = Bun.spawn(["go", "install", tool], { env, stdout: "ignore", stderr: "pipe" });
      if ((await go.exited) !== 0) throw new Error(await new Response(go.stderr).text());
    }
  });
  schemas = await keptDirectory("kubernetes-schemas", async (into) => {
    writeFileSync(join(into, "package.json"), "{}");
    const add = Bun.spawn([process.execPath, "add", "--silent", "--ignore-scripts", TYPES], { cwd: into });
    if ((await add.exited) !== 0) throw new Error(`${TYPES} cannot be installed`);
    mkdirSync(join(into, "schemas"));
    writeFileSync(
      join(into, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { moduleResolution: "node" } }),
    );
    for (const [group, kind] of KINDS) {
      const schema = createGenerator({
        path: join(into, `node_modules/kubernetes-types/${group}.d.ts`),
        tsconfig: join(into, "tsconfig.json"),
        type: kind,
        skipTypeCheck: true,
        additionalProperties: false,
        jsDoc: "none",
      }).createSchema(kind);
      writeFileSync(join(into, "schemas", `${kind.toLowerCase()}.json`), JSON.stringify(schema));
    }
    writeFileSync(join(into, "schemas/servicemonitor.json"), JSON.stringify(SERVICE_MONITOR));
  });
}, 1_800_000);

function helm(...args: string[]): { exitCode: number; out: string; errors: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([join(bin, "helm"), ...args]);
  return { exitCode, out: stdout.toString(), errors: stderr.toString() };
}

/** Without a cluster helm takes the version that it was built for. */
const template = (...args: string[]) => helm("template", "node", CHART, "--kube-version", "1.30.0", ...args);
const cases = readdirSync(CASES).map((file) => join(CASES, file));
const image = ["--set", "image.repository=registry.example/svc"];

describe.skipIf(!isThere)("the chart", () => {
  test.each(cases)("%s: lint finds nothing, and every manifest is valid", (values) => {
    const linted = helm("lint", "--strict", CHART, "--values", values);
    expect([linted.exitCode, linted.exitCode === 0 ? "" : linted.out]).toEqual([0, ""]);
    const { exitCode, out, errors } = template("--values", values);
    expect([exitCode, errors]).toEqual([0, ""]);
    const location = join(schemas, "schemas/{{.ResourceKind}}.json");
    const checked = Bun.spawnSync(
      [join(bin, "kubeconform"), "-strict", "-summary", "-schema-location", location],
      { stdin: new Blob([out]) },
    );
    expect([checked.exitCode, checked.exitCode === 0 ? "" : checked.stdout.toString()]).toEqual([0, ""]);
    expect(checked.stdout.toString()).toContain("Skipped: 0");
  });

  test("the settings are the TOML that the node reads", () => {
    const { out } = template("--values", join(CASES, "public.yaml"));
    // biome-ignore lint/suspicious/noExplicitAny: a manifest
    const documents = out.split(/^---$/m).map((text) => Bun.YAML.parse(text) as any);
    const config = documents.find((one) => one?.kind === "ConfigMap").data["svc.toml"];
    expect(Bun.TOML.parse(config)).toMatchObject({
      service: { public_url: "https://node.example" },
      http: { port: 9090, trusted_proxies: ["10.0.0.0/8"] },
      hub: { port: 0 },
    });
    const ports = documents.filter((one) => one?.kind === "Service").map(({ spec }) => spec.ports.length);
    expect(ports).toEqual([1, 1]);
  });

  test.each([
    [
      "two nodes without a shared state",
      ["--set", "replicas=2", ...image],
      "more than one node needs settings.state.url",
    ],
    ["no image", [], "name the image"],
    [
      "a secret among the settings",
      ["--set", "settings.state.password=x", ...image],
      "belongs in existingSecret",
    ],
    ["a password in a URL", ["--set", "settings.state.url=postgres://u:p@h/d", ...image], "not in a URL"],
    ["an ingress without a host", ["--set", "ingress.enabled=true", ...image], "name the host"],
    ["an unknown value", ["--set", "replica=2", ...image], "dditional propert"],
  ])("%s is refused", (_name, args, message) => {
    const { exitCode, errors } = template(...args);
    expect(exitCode).not.toBe(0);
    expect(errors).toContain(message);
  });
});
